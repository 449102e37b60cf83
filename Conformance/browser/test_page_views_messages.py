"""Features of messages on the page with the program: disappearing messages, threads, receipts, pins, polls, forwarding, schedules."""

import time
import uuid

from support.chatpages import begin_chat, bubble, choose, open_pair, write
from support.samplepage import PHONE, eventually


def group(chat, title, users=("bob", "carol")):
    """Creates a group of Alice and her contacts."""
    return chat.do("alice", "conversation.create", id=title, kind="group", title=title, users=list(users))["head"]["conv"]


def say(chat, user, conv, text, **more):
    return chat.do(user, "send", id=str(uuid.uuid4()), conv=conv, kind="text", body={"text": text}, **more)["seq"]


def newest(chat, conv, condition):
    """Waits until the body of the newest event of a log meets a condition, and returns the body."""
    deadline = time.monotonic() + 10
    while not (found := [event["body"] for event in chat.log(conv)[-1:] if condition(event.get("body") or {})]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found[0]


STORED = """async (text) => {
  const db = await new Promise((done) => { indexedDB.open("apus-chat").onsuccess = ({ target }) => done(target.result); });
  const all = (store) => new Promise((done) => { db.transaction(store).objectStore(store).getAll().onsuccess = ({ target }) => done(target.result); });
  const found = [...await all("events"), ...await all("heads")].filter((each) => JSON.stringify(each).includes(text)).length;
  db.close();
  return found;
}"""


def test_a_disappearing_message_leaves_the_chat_the_list_and_the_cache(person, chat):
    conv = chat.pair("alice", "bob")
    alice = person("alice")
    open_pair(alice, conv)
    chat.do("alice", "conversation.set", id="expire", conv=conv, settings={"expire": 3})
    say(chat, "bob", conv, "gone soon")
    bubble(alice, "gone soon").locator(".expires").wait_for()
    assert alice.locator(".chat-list .row", has_text="gone soon").count() == 1
    eventually(alice, "document.querySelector('.expires')?.textContent === '2s'")
    alice.locator(".bubble", has_text="gone soon").wait_for(state="detached", timeout=5000)
    alice.locator(".bubble", has_text="Message expired").wait_for()
    alice.locator(".chat-list .row", has_text="gone soon").wait_for(state="detached")
    for _ in range(100):
        if alice.evaluate(STORED, "gone soon") == 0:
            break
        alice.wait_for_timeout(20)
    assert alice.evaluate(STORED, "gone soon") == 0
    # A page that was closed when a message expired does not show the message when it opens.
    say(chat, "bob", conv, "gone while away")
    bubble(alice, "gone while away").wait_for()
    alice.context.set_offline(True)
    alice.goto("about:blank")
    time.sleep(3)
    alice.context.set_offline(False)
    alice.goto(f"{chat.url}/#/c/{conv}")
    alice.locator(".bubble", has_text="Message expired").nth(1).wait_for()
    assert alice.locator("text=gone while away").count() == 0
    chat.do("alice", "conversation.set", id="stay", conv=conv, settings={"expire": 0})


def test_a_long_thread_opens_at_its_end_and_counts_live(person, chat):
    conv = group(chat, "Threads")
    first = say(chat, "alice", conv, "Where do we meet?")
    replies = [say(chat, "bob", conv, f"reply {number:03}", thread=first) for number in range(120)]
    alice = person("alice")
    open_pair(alice, conv)
    alice.evaluate("(seq) => chatApp.view.thread.jumpTo(seq)", first)
    alice.locator(f".item[data-seq='{first}'] .thread-link", has_text="120 replies").wait_for()
    say(chat, "carol", conv, "one more", thread=first)
    alice.locator(f".item[data-seq='{first}'] .thread-link", has_text="121 replies").click()
    bubble(alice, "one more").wait_for()
    eventually(alice, "chatApp.view.thread.list.isAtEnd()")
    # Scrolling up loads the first reply. The root of the thread is above it.
    alice.evaluate("""async () => {
      const { thread } = chatApp.view;
      for (let turn = 0; turn < 40 && !thread.scroller.textContent.includes("reply 000"); turn += 1) {
        thread.scroller.scrollTop = 0;
        await new Promise((done) => setTimeout(done, 50));
      }
    }""")
    bubble(alice, "reply 000").wait_for()
    assert alice.locator(".log .item .bubble").first.inner_text().startswith("Where do we meet?")
    # A message of the thread can be opened from the log and by its address.
    alice.evaluate("([conv, seq]) => { location.hash = `#/c/${conv}/${seq}`; }", [conv, replies[60]])
    alice.locator(f".item[data-seq='{replies[60]}'] .thread-link", has_text="in a thread").click()
    alice.locator(".peer h2", has_text="Thread").wait_for()
    alice.locator(f".item.hit[data-seq='{replies[60]}']").wait_for()
    assert f"#/t/{conv}/{first}/{replies[60]}" in alice.url
    write(alice, "back at the end")
    bubble(alice, "back at the end").wait_for()


def test_a_group_message_is_read_when_all_have_read_it(person, chat):
    conv = group(chat, "Receipts")
    alice = person("alice")
    open_pair(alice, conv)
    write(alice, "Is the boat ready?")
    ticks = bubble(alice, "Is the boat ready?").locator(".ticks")
    ticks.wait_for()
    chat.do("bob", "mark", conv=conv, read=1)
    alice.wait_for_timeout(1200)  # a push of positions
    assert "read" not in ticks.get_attribute("class").split()
    choose(alice, "Is the boat ready?", "Read by")
    alice.locator("dialog", has_text="Read by 1 of 2").wait_for()
    alice.locator("dialog .people", has_text="Bob Marsh").wait_for()
    alice.keyboard.press("Escape")
    chat.do("carol", "mark", conv=conv, read=1)
    bubble(alice, "Is the boat ready?").locator(".ticks.read").wait_for()
    alice.reload()
    open_pair(alice, conv)
    bubble(alice, "Is the boat ready?").locator(".ticks.read").wait_for()


def test_who_reacted_is_listed_for_each_reaction(person, chat):
    conv = group(chat, "Reactions")
    seq = say(chat, "bob", conv, "Cake at four")
    for user, key in (("alice", "👍"), ("carol", "👍"), ("bob", "🎂")):
        chat.do(user, "react", id=f"react-{user}", conv=conv, ref=seq, key=key)
    alice = person("alice", PHONE)
    open_pair(alice, conv)
    choose(alice, "Cake at four", "Who reacted")
    alice.locator("dialog .people .row").nth(2).wait_for()
    alice.locator("dialog .chip", has_text="🎂").click()
    alice.locator("dialog .people .row", has_text="Carol").wait_for(state="detached")
    assert alice.locator("dialog .people .row .title").all_inner_texts() == ["Bob Marsh"]


def test_who_voted_is_listed_for_each_option_once_one_has_voted(person, chat):
    conv = group(chat, "Votes")
    seq = chat.do("bob", "send", conv=conv, kind="poll", body={"question": "Cake or tea?", "options": ["Cake", "Tea"], "multiple": True})["seq"]
    for user in ("bob", "carol"):
        chat.do(user, "vote", conv=conv, ref=seq, options=[1])
    for number in range(230):  # the votes are on two pages of the log
        chat.do("bob", "send", conv=conv, kind="text", body={"text": f"line {number}"})
    chat.do("bob", "vote", conv=conv, ref=seq, options=[0])
    secret = chat.do("bob", "send", conv=conv, kind="poll", body={"question": "Who is late?", "options": ["I", "You"], "anonymous": True})["seq"]
    alice = person("alice")
    open_pair(alice, conv)
    alice.evaluate("(seq) => chatApp.view.thread.jumpTo(seq)", seq)
    poll = alice.locator(f".item[data-seq='{seq}'] .poll")
    poll.wait_for()
    assert poll.get_by_role("button", name="Who voted").count() == 0  # the user has not voted yet
    poll.locator(".option", has_text="Tea").click()
    poll.get_by_role("button", name="Who voted").click()
    dialog = alice.get_by_role("dialog", name="Who voted")
    rows = dialog.locator(".people .row .title")
    rows.nth(2).wait_for()
    assert sorted(rows.all_inner_texts()) == ["Bob Marsh", "Carol Okafor", "You"]
    dialog.locator(".chip", has_text="Cake").click()
    rows.nth(1).wait_for(state="detached")
    assert rows.all_inner_texts() == ["Bob Marsh"]
    assert dialog.get_by_role("status").count() == 0  # the list is complete
    alice.keyboard.press("Escape")
    eventually(alice, "document.activeElement.textContent === 'Who voted'")
    alice.evaluate("(seq) => chatApp.view.thread.jumpTo(seq)", secret)
    alice.locator(f".item[data-seq='{secret}']").locator(".option", has_text="You").click()
    alice.locator(f".item[data-seq='{secret}'] .poll", has_text="1 vote").wait_for()
    assert alice.locator(f".item[data-seq='{secret}']").get_by_role("button", name="Who voted").count() == 0


def test_pinned_messages_are_listed_jumped_to_and_unpinned(person, chat):
    conv = group(chat, "Pins")
    seqs = [say(chat, "bob", conv, f"notice {number}") for number in range(150)]
    for number in (3, 70):
        chat.do("alice", "pin", id=f"pin-{number}", conv=conv, ref=seqs[number])
    alice = person("alice")
    open_pair(alice, conv)
    line = alice.locator(".pin-line")
    line.locator("text=notice 70").wait_for()
    line.click()
    alice.locator(f".item.hit[data-seq='{seqs[70]}']").wait_for()
    line.locator("text=notice 3").wait_for()
    alice.get_by_role("button", name="Pinned messages").click()
    alice.locator("dialog .pins .row", has_text="notice 3").click()
    alice.locator(f".item.hit[data-seq='{seqs[3]}']").wait_for()
    alice.get_by_role("button", name="Pinned messages").click()
    alice.locator("dialog .pins").get_by_role("button", name="Unpin").first.click()
    alice.locator("dialog .pins .row", has_text="notice 70").wait_for(state="detached")
    alice.keyboard.press("Escape")
    line.locator("text=notice 3").wait_for()


def test_a_poll_ends_at_its_time(person, chat):
    conv = group(chat, "Polls")
    alice, bob = person("alice"), person("bob")
    open_pair(alice, conv)
    open_pair(bob, conv)
    alice.get_by_role("button", name="Attach").click()
    alice.get_by_role("menuitem", name="Poll").click()
    alice.keyboard.type("Which day?\nTuesday\nFriday")  # Enter leads to the next field
    assert [alice.get_by_label(f"Option {number}").input_value() for number in (1, 2)] == ["Tuesday", "Friday"]
    alice.get_by_label("Ends at a time").check()
    alice.get_by_label("The poll ends at").wait_for()
    alice.get_by_role("dialog").get_by_role("button", name="Send").click()
    bob.get_by_role("radio", name="Friday").check()
    bob.locator(".poll", has_text="1 vote").wait_for()
    alice.locator(".poll", has_text="1 vote").wait_for()
    assert "ends on" in alice.locator(".poll").inner_text()
    alice.locator(".poll legend").click(button="right")
    alice.get_by_role("menuitem", name="End the poll").click()
    bob.locator(".poll", has_text="Final result").wait_for()
    assert bob.get_by_role("radio", name="Tuesday").is_disabled()
    # An admin of the group does not end the poll of another user, because the server refuses it.
    other = chat.do("bob", "send", id="other", conv=conv, kind="poll", body={"question": "Which boat?", "options": ["a", "b"]})["seq"]
    alice.locator(f".item[data-seq='{other}'] .poll legend").click(button="right")
    alice.get_by_role("menuitem", name="Reply", exact=True).wait_for()
    assert alice.get_by_role("menuitem", name="End the poll").count() == 0
    alice.keyboard.press("Escape")
    # A poll with an end is shown as closed at that time, without an event.
    soon = chat.do("bob", "send", id="soon", conv=conv, kind="poll", body={"question": "Now?", "options": ["a", "b"], "closes_at": int(time.time() * 1000) + 2500})["seq"]
    poll = alice.locator(f".item[data-seq='{soon}'] .poll")
    poll.wait_for()
    assert "Final result" not in poll.inner_text()
    poll.locator("text=Final result").wait_for(timeout=6000)


def test_several_messages_are_forwarded_merged_and_without_names(person, chat):
    conv, target = group(chat, "Source"), group(chat, "Target")
    for number in range(3):
        say(chat, "bob", conv, f"item {number}")
    alice = person("alice")
    open_pair(alice, conv)
    bubble(alice, "item 2").wait_for()
    choose(alice, "item 0", "Select")
    alice.locator(".item", has_text="item 1").click()
    alice.locator(".selection-bar", has_text="2 selected").wait_for()
    alice.locator(".selection-bar").get_by_role("button", name="Forward").click()
    alice.get_by_label("Send as one message").check()
    alice.get_by_label("Without the names of the senders").check()
    alice.locator("dialog .row", has_text="Target").click()
    alice.locator(".peer h2", has_text="Target").wait_for()
    alice.locator("details.quote summary", has_text="Source · 2 messages").click()
    assert "Bob" not in alice.locator("details.quote").inner_text()
    body = newest(chat, target, lambda body: "items" in body)
    assert [item["body"]["text"] for item in body["items"]] == ["item 0", "item 1"] and not any("sender" in item for item in body["items"])
    open_pair(alice, conv)
    choose(alice, "item 2", "Forward")
    alice.locator("dialog .row", has_text="Target").click()
    alice.locator(".bubble", has_text="Forwarded from Bob Marsh").wait_for()


def test_changed_settings_are_told_in_words(person, chat):
    conv = group(chat, "Rules")
    alice = person("alice")
    open_pair(alice, conv)
    for number, (settings, text) in enumerate([({"expire": 86_400}, "You let messages disappear after 1 day"), ({"expire": 0}, "You turned off disappearing messages"),
                                               ({"slow": 30}, "You turned on slow mode: a message every 30 seconds"), ({"slow": 0}, "You turned off slow mode"),
                                               ({"write": "admins"}, "You let only admins write"), ({"write": "members"}, "You let all members write"), ({"pin": "members"}, "You changed the settings")]):
        chat.do("alice", "conversation.set", id=f"rule-{number}", conv=conv, settings=settings)
        alice.locator(".note", has_text=text).wait_for()


def test_a_message_is_forwarded_without_sound(person, chat):
    conv, target = group(chat, "Loud"), group(chat, "Quiet")
    say(chat, "bob", conv, "as quiet as a mouse")
    alice, bob = person("alice"), person("bob")
    open_pair(bob, target)
    open_pair(alice, conv)
    for silent in (False, True):
        open_pair(alice, conv)
        choose(alice, "as quiet as a mouse", "Forward")
        alice.get_by_label("Send without sound").set_checked(silent)
        alice.locator("dialog .row", has_text="Quiet").click()
        alice.locator(".peer h2", has_text="Quiet").wait_for()
        bob.locator(".bubble", has_text="as quiet as a mouse").nth(int(silent)).wait_for()
    # The push of a message contains whether it is silent.
    rows = bob.evaluate("(conv) => chatApp.state.thread(conv).rows.filter((row) => row.kind === 'text').map((row) => Boolean(row.silent))", target)
    assert rows == [False, True]


def test_the_list_says_once_who_recalled_a_message(person, chat):
    conv = group(chat, "Recalled")
    alice = person("alice")
    open_pair(alice, conv)
    write(alice, "oops")
    bubble(alice, "oops").locator(".ticks.sent, .ticks.delivered").first.wait_for()
    choose(alice, "oops", "Recall")
    alice.get_by_role("dialog").get_by_role("button", name="Recall").click()
    preview = alice.locator(".chat-list .row[aria-current=true] .preview", has_text="You recalled this message")
    preview.wait_for()
    assert preview.inner_text() == "You recalled this message"


def test_a_scheduled_message_is_moved_and_sent_at_once(person, chat):
    alice = person("alice")
    begin_chat(alice, "carol")
    for text in ("happy birthday", "see you soon"):
        alice.fill("#message", text)
        alice.click("#send", button="right")
        alice.get_by_role("menuitem", name="Schedule").click()
        alice.get_by_role("dialog").get_by_role("button", name="Tomorrow morning").click()
        alice.get_by_role("dialog").get_by_role("button", name="Schedule").click()
        alice.locator(".toast", has_text="Will be sent on").last.wait_for()
    # The chat tells of them, also after it was opened again, and the line opens their list.
    alice.evaluate("chatApp.view.closeThread()")
    begin_chat(alice, "carol")
    alice.get_by_role("button", name="2 messages scheduled").click()
    row = alice.locator("[data-scheduled]", has_text="see you soon")
    before = row.inner_text()
    row.get_by_role("button", name="Change the time").click()
    alice.get_by_label("Send at").fill("2027-01-02T10:30")
    alice.get_by_role("dialog").last.get_by_role("button", name="Schedule").click()
    alice.locator("[data-scheduled]", has_text="2 Jan 2027").wait_for()
    assert "2 Jan 2027" not in before
    alice.locator("[data-scheduled]", has_text="happy birthday").get_by_role("button", name="Send now").click()
    alice.locator("[data-scheduled]", has_text="happy birthday").wait_for(state="detached")
    alice.keyboard.press("Escape")
    bubble(alice, "happy birthday").wait_for()
    newest(chat, chat.pair("alice", "carol"), lambda body: body.get("text") == "happy birthday")
    alice.get_by_role("button", name="1 message scheduled").wait_for()
    [left] = chat.do("alice", "scheduled")["scheduled"]
    assert left["body"]["text"] == "see you soon"
    row.get_by_role("button", name="Delete").wait_for(state="detached")
    alice.get_by_role("button", name="1 message scheduled").click()
    row.get_by_role("button", name="Delete").click()
    alice.keyboard.press("Escape")
    alice.locator(".scheduled-line").wait_for(state="hidden")


def test_the_line_of_scheduled_messages_ends_when_they_are_sent(person, chat):
    conv = chat.pair("alice", "carol")
    chat.do("alice", "schedule", conv=conv, kind="text", body={"text": "sent by itself"}, send_at=int(time.time() * 1000) + 3000)
    alice = person("alice")
    begin_chat(alice, "carol")
    alice.get_by_role("button", name="1 message scheduled").wait_for()
    bubble(alice, "sent by itself").wait_for()
    alice.locator(".scheduled-line").wait_for(state="hidden")


def test_a_pasted_name_becomes_a_mention_of_a_member(person, chat):
    conv = group(chat, "Mentions")
    alice = person("alice")
    open_pair(alice, conv)
    write(alice, "ask @carol or @nobody, **please**")
    bubble(alice, "please").locator(".mention", has_text="@carol").wait_for()
    entities = newest(chat, conv, lambda body: "please" in body.get("text", ""))["entities"]
    assert [(each["type"], each.get("user")) for each in entities] == [("mention", "carol"), ("bold", None)]
    write(alice, "first\n1. one\n2. two\n```swift\nlet x = 1\n```\nend")
    last = bubble(alice, "let x = 1")
    assert last.locator(".listed").inner_text() == "1. one\n2. two" and last.locator("pre").inner_text() == "let x = 1"


def test_emoji_are_found_by_english_and_chinese_names(person, chat):
    alice = person("alice")
    open_pair(alice, chat.pair("alice", "bob"))
    alice.get_by_role("button", name="Emoji").click()
    for query in ("birthday", "蛋糕"):
        alice.fill(".emoji-panel input", query)
        alice.locator(".emoji-panel .grid button").first.wait_for()
        assert any(face in "🎂🍰" for face in alice.locator(".emoji-panel .grid button").all_inner_texts())
    alice.keyboard.press("Escape")
    alice.fill("#message", ":笑哭")
    alice.locator(".completion [role=option]", has_text="😂").wait_for()
    alice.keyboard.press("Tab")
    assert alice.input_value("#message") == "😂"


def test_all_are_mentioned_only_where_the_server_permits_it(person, chat):
    conv = group(chat, "Everyone")
    alice, bob = person("alice"), person("bob")
    open_pair(alice, conv)
    alice.locator("#message").press_sequentially("@al")
    alice.get_by_role("option", name="@all").click()
    assert alice.locator("#message").input_value() == "@all "
    write(alice, "@all come to the lake")
    bubble(alice, "to the lake").locator(".mention", has_text="@all").wait_for()
    assert newest(chat, conv, lambda body: "lake" in body.get("text", ""))["entities"] == [{"type": "all", "offset": 0, "length": 4}]
    # A member of a group with the default settings may not mention all: `@all` stays text.
    open_pair(bob, conv)
    bob.locator("#message").press_sequentially("@al")
    bob.get_by_role("option", name="Alice Lindqvist").wait_for()
    assert bob.get_by_role("option", name="@all").count() == 0
    write(bob, "@all of you")
    bubble(alice, "@all of you").wait_for()
    assert "entities" not in newest(chat, conv, lambda body: body.get("text") == "@all of you")
