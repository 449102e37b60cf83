"""Pictures, films, files, places and cards on the page, and the media of a conversation."""

import time

import pytest

from support.axe import violations
from support.chatpages import begin_chat, bubble, open_pair, png, write
from support.media import RECORDS, animation, attach, bodies, files, send_voice
from support.samplepage import DESKTOP, PHONE, eventually, open_chat, picture, serving, visiting

LAST_SENT = ".item:last-child .ticks:is(.sent, .delivered, .read)"


def choose_pictures(page, *names):
    page.set_input_files("input[type=file]", [{"name": name, "mimeType": "image/png", "buffer": png()} for name in names])
    page.locator(".attachment img").nth(len(names) - 1).wait_for()


def make_group(chat, title):
    return chat.do("alice", "conversation.create", kind="group", title=title, users=["bob"])["head"]["conv"]


def in_group(chat, title, *pages):
    """Creates a group of Alice and Bob, opens it on the pages, and returns its id."""
    conv = make_group(chat, title)
    chat.do("alice", "send", conv=conv, kind="text", body={"text": "Welcome"})
    for page in pages:
        open_pair(page, conv)
    return conv


def test_a_film_of_the_camera_has_a_poster_and_plays(person, chat):
    alice, bob = person("alice", **RECORDS), person("bob", PHONE)
    conv = in_group(chat, "Films", alice, bob)
    attach(alice, "Video from the camera")
    alice.get_by_role("button", name="Record a video").click()
    alice.locator(".camera-bar .time", has_text="0:01").wait_for()
    alice.get_by_role("button", name="End the recording").click()
    alice.locator(".attachment").wait_for()
    assert alice.locator("#message").get_attribute("placeholder") == "Caption"
    alice.fill("#message", "On **board**")
    alice.keyboard.press("Enter")
    film = bob.locator(".picture.film")
    film.wait_for()
    body = bodies(chat, conv, "video")[0]
    assert body["type"].startswith("video/") and body["duration"] >= 500 and body["width"] > 100 and len(body["thumb"]) == 28
    assert body["poster"] != body["blob"]
    bob.locator(".film.playing video").wait_for()
    assert bob.evaluate("(() => { const film = document.querySelector('.film video'); return film.muted && film.playsInline; })()")
    film.click()
    video = bob.locator("dialog.viewer video")
    video.wait_for()
    assert bob.evaluate("(() => { const film = document.querySelector('.viewer video'); return film.controls && !film.muted; })()")
    assert bob.locator(".viewer .caption strong").inner_text() == "board"
    # Players request parts of a film.
    status = bob.evaluate("async () => (await fetch(document.querySelector('.viewer video').src, { headers: { Range: 'bytes=10-19' } })).status")
    assert status == 206
    bob.keyboard.press("Escape")
    bob.locator("dialog.viewer").wait_for(state="detached")


def test_the_viewer_walks_and_enlarges(person, chat):
    alice, bob = person("alice"), person("bob")
    conv = in_group(chat, "Viewer", alice, bob)
    choose_pictures(alice, "a.png", "b.png", "c.png")
    alice.fill("#message", "**Three** pictures of *one* day")
    alice.keyboard.press("Enter")
    bob.locator(".album .picture img.loaded").nth(2).wait_for()
    caption = bodies(chat, conv, "image")[-1]
    assert caption["text"] == "Three pictures of one day" and [each["type"] for each in caption["entities"]] == ["bold", "italic"]
    assert [body.get("text") for body in bodies(chat, conv, "image")][:-1] == [None, None]
    assert all(len(body["thumb"]) == 28 for body in bodies(chat, conv, "image"))
    assert bob.locator(".item", has=bob.locator(".album")).locator(".text strong").inner_text() == "Three"

    bob.locator(".album .picture").first.click()
    viewer = bob.locator("dialog.viewer")
    viewer.get_by_text("1 of 3").wait_for()
    assert not viewer.get_by_role("button", name="Previous").is_visible()
    bob.keyboard.press("ArrowRight")
    viewer.get_by_text("2 of 3").wait_for()
    viewer.get_by_role("button", name="Next").click()
    viewer.get_by_text("3 of 3").wait_for()
    assert viewer.locator(".caption em").inner_text() == "one"
    assert viewer.get_by_label("Download").get_attribute("download") == "c.png"

    scale = "Number(/scale\\(([\\d.]+)\\)/.exec(document.querySelector('.viewer .stage > img').style.transform)?.[1] ?? 1)"
    assert bob.evaluate(scale) == 1
    bob.keyboard.press("+")
    assert bob.evaluate(scale) == 1.5
    bob.keyboard.press("ArrowRight")  # moves the enlarged picture
    viewer.get_by_text("3 of 3").wait_for()
    bob.keyboard.press("0")
    assert bob.evaluate(scale) == 1
    viewer.locator(".stage > img").dblclick()
    assert bob.evaluate(scale) == 2.5
    viewer.locator(".stage > img").hover()
    bob.mouse.wheel(0, -300)
    eventually(bob, f"{scale} > 3")
    viewer.get_by_role("button", name="Make smaller").click()
    bob.keyboard.press("0")
    eventually(bob, "document.activeElement.closest('dialog.viewer') !== null")
    bob.keyboard.press("ArrowLeft")
    viewer.get_by_text("2 of 3").wait_for()
    bob.keyboard.press("Escape")
    viewer.wait_for(state="detached")
    eventually(bob, "document.activeElement.matches('.picture')")


@pytest.mark.parametrize("motion, moves", [("no-preference", True), ("reduce", False)])
def test_animated_pictures_move(person, chat, motion, moves):
    """A preview is not animated, so the page shows the original of an animated picture, unless the user prefers reduced motion."""
    alice = person("alice", reduced_motion=motion)
    in_group(chat, "Animated", alice)
    alice.set_input_files("input[type=file]", [{"name": "a.gif", "mimeType": "image/gif", "buffer": animation()}])
    alice.locator(".attachment img").wait_for()
    alice.keyboard.press("Enter")
    alice.locator("button.picture img.loaded[src*='/api/blobs/']").wait_for()
    assert ("size=" not in alice.locator("button.picture img").get_attribute("src")) is moves


def test_two_fingers_enlarge_a_picture(person, chat):
    alice = person("alice", PHONE, has_touch=True)
    in_group(chat, "Fingers", alice)
    choose_pictures(alice, "a.png")
    alice.keyboard.press("Enter")
    alice.locator("button.picture img.loaded").click()
    alice.locator(".viewer .stage > img").wait_for()
    client = alice.context.new_cdp_session(alice)
    touch = lambda kind, *points: client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]})  # noqa: E731
    touch("touchStart", (180, 420), (210, 420))
    touch("touchMove", (150, 420), (240, 420))
    touch("touchMove", (120, 420), (270, 420))
    touch("touchEnd")
    eventually(alice, "/scale\\(([2-8])/.test(document.querySelector('.viewer .stage > img').style.transform)")


def test_several_files_are_sent_and_one_is_cancelled(person, chat):
    alice, bob = person("alice"), person("bob")
    conv = in_group(chat, "Files", alice, bob)
    held = []

    def patched(route):
        if route.request.method == "PATCH" and len(held) < 2:
            held.append(route)
        else:
            route.continue_()

    alice.context.route("**/api/uploads/*", patched)
    alice.set_input_files("input[type=file]", files("one.pdf", "two.tar.gz"))
    alice.keyboard.press("Enter")
    alice.locator(".file.waits").nth(1).wait_for()
    eventually(alice, "document.querySelectorAll('.file.waits [role=progressbar]').length === 2")
    waiting = alice.locator(".file.waits", has_text="two.tar.gz")
    waiting.get_by_role("button", name="Cancel the upload").click()
    waiting.wait_for(state="detached")
    next(route for route in held if route.request.post_data_buffer.startswith(b"one")).continue_()
    bob.locator("a.file", has_text="one.pdf").wait_for()
    assert [body["name"] for body in bodies(chat, conv, "file")] == ["one.pdf"]
    link = bob.locator("a.file")
    assert link.get_attribute("download") == "one.pdf" and link.get_attribute("aria-label") == "Download: one.pdf"
    assert link.locator(".sub").inner_text() == "200 bytes" and link.locator(".ending").inner_text() == "PDF"
    with bob.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "one.pdf"


def test_an_upload_resumes_after_a_reload(person, chat):
    alice = person("alice")
    conv = in_group(chat, "Reload", alice)
    offsets = []
    isHeld = [True]

    def patched(route):
        request = route.request
        if request.method == "PATCH":
            offset = int(request.headers["upload-offset"])
            if isHeld[0] and offset > 0:
                return  # the part is never answered
            offsets.append(offset)
        route.continue_()

    alice.context.route("**/api/uploads/*", patched)
    alice.set_input_files("input[type=file]", files("large.bin", size=1_400_000))
    alice.keyboard.press("Enter")
    alice.locator(".file.waits [role=progressbar]:not([aria-valuenow='0'])").wait_for()
    alice.reload()
    isHeld[0] = False
    alice.locator("a.file", has_text="large.bin").wait_for(timeout=60_000)
    assert bodies(chat, conv, "file")[0]["size"] == 1_400_000
    assert offsets.count(0) == 1 and offsets[-1] > 0


def test_a_file_that_is_no_picture_is_sent_as_a_file(person, chat):
    alice = person("alice")
    conv = in_group(chat, "Broken", alice)
    alice.set_input_files("input[type=file]", [{"name": "broken.png", "mimeType": "image/png", "buffer": b"no picture"}])
    alice.locator(".attachment").wait_for()
    alice.keyboard.press("Enter")
    alice.locator("a.file", has_text="broken.png").wait_for()
    assert bodies(chat, conv, "file")[0]["type"] == "application/octet-stream"


def test_the_own_place_is_shared(person, chat):
    alice = person("alice", permissions=["geolocation"], geolocation={"latitude": 54.3233, "longitude": -10.1228, "accuracy": 30})
    bob = person("bob", PHONE)
    conv = in_group(chat, "Places", alice, bob)
    attach(alice, "Location")
    alice.get_by_role("button", name="My location").click()
    alice.locator(".place-preview svg").wait_for()
    alice.get_by_label("Name of the place").fill("Pier <b>3</b>")
    alice.get_by_role("dialog").get_by_role("button", name="Send").click()
    card = bob.locator(".place-card")
    card.wait_for()
    assert bodies(chat, conv, "location") == [{"latitude": 54.3233, "longitude": -10.1228, "accuracy": 30, "name": "Pier <b>3</b>"}]
    assert card.locator(".name").inner_text() == "Pier <b>3</b>" and "54.3233° N, 10.1228° W" in card.locator(".sub").inner_text()
    hrefs = card.locator("a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert hrefs[0] == "geo:54.3233,-10.1228?q=54.3233,-10.1228(Pier%20%3Cb%3E3%3C%2Fb%3E)"
    assert hrefs[1].startswith("https://www.openstreetmap.org/?mlat=54.3233")
    assert card.locator("svg path.grid").count() > 1 and card.locator("svg circle.accuracy").count() == 1


def test_a_place_is_chosen_by_its_coordinates(person, chat):
    alice = person("alice")
    conv = in_group(chat, "Coordinates", alice)
    attach(alice, "Location")
    send = alice.get_by_role("dialog").get_by_role("button", name="Send")
    alice.get_by_label("Latitude").fill("95")
    alice.get_by_label("Longitude").fill("10,5")
    assert send.is_disabled() and alice.get_by_label("Latitude").get_attribute("aria-invalid") == "true"
    alice.get_by_label("Latitude").fill("-33.5")
    alice.keyboard.press("Enter")
    alice.locator(".place-card").wait_for()
    alice.locator(LAST_SENT).wait_for()
    assert bodies(chat, conv, "location") == [{"latitude": -33.5, "longitude": 10.5}]


def test_a_contact_card_opens_the_profile(person, chat):
    alice, bob = person("alice"), person("bob")
    in_group(chat, "Cards", alice, bob)
    attach(alice, "Contact")
    alice.locator(".person[data-user=carol]").click()
    card = bob.locator(".contact-card")
    card.wait_for()
    assert "@carol" in card.inner_text()
    card.click()
    bob.get_by_role("dialog").get_by_text("@carol").wait_for()


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_the_media_of_a_conversation(person, chat, size):
    alice = person("alice", *([size] if size else []))
    conv = in_group(chat, "Media", alice)
    choose_pictures(alice, "a.png", "b.png")
    alice.keyboard.press("Enter")
    alice.locator(".album img.loaded").nth(1).wait_for()
    alice.set_input_files("input[type=file]", files("plan.pdf"))
    alice.locator(".attachment").wait_for()
    alice.keyboard.press("Enter")
    alice.locator("a.file").wait_for()
    write(alice, "See https://example.org/tides. And [the map](https://example.org/map)")
    write(alice, "No address, http only")
    send_voice(alice, conv)
    alice.locator(".voice .play:enabled").wait_for()
    alice.locator(LAST_SENT).wait_for()
    alice.click(".peer")
    alice.locator(".details [data-action=media]").click()
    dialog = alice.get_by_role("dialog", name="Media")
    dialog.locator(".picture img.loaded").nth(1).wait_for()
    assert dialog.locator(".picture").count() == 2
    eventually(alice, "document.activeElement.getAttribute('role') === 'tab'")
    alice.keyboard.press("ArrowRight")
    dialog.locator("a.file", has_text="plan.pdf").wait_for()
    alice.keyboard.press("ArrowRight")
    dialog.locator(".media-link").nth(1).wait_for()
    assert sorted(dialog.locator(".media-link").evaluate_all("links => links.map((link) => link.href)")) == ["https://example.org/map", "https://example.org/tides"]
    alice.keyboard.press("ArrowRight")
    dialog.locator(".voice .play").wait_for()
    assert dialog.locator("[role=tab][aria-selected=true]").inner_text() == "Voice"
    alice.keyboard.press("ArrowRight")
    dialog.locator(".picture").first.click()
    viewer = alice.locator("dialog.viewer")
    viewer.get_by_text("1 of 2").wait_for()
    viewer.get_by_role("button", name="Show in chat").click()
    alice.locator(".item .album").wait_for()
    assert alice.locator("dialog[open]").count() == 0


def test_the_media_are_loaded_page_by_page(person, chat):
    alice = person("alice")
    conv = in_group(chat, "Many")
    for number in range(75):
        chat.do("alice", "send", conv=conv, kind="text", body={"text": f"https://example.org/{number}"})
    open_pair(alice, conv)
    alice.click(".peer")
    alice.locator(".details [data-action=media]").click()
    alice.get_by_role("tab", name="Links").click()
    alice.locator(".media-link").nth(20).wait_for()
    for _ in range(40):
        if alice.locator(".media-link").count() == 75:
            break
        alice.locator(".media-scroller").evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
        alice.wait_for_timeout(100)
    links = alice.locator(".media-link").evaluate_all("links => links.map((link) => Number(link.href.split('/').at(-1)))")
    assert links == list(reversed(range(75)))


@pytest.mark.parametrize("language, text", [("en", "Update to see this message"), ("zh", "更新后可查看此消息")])
def test_an_unknown_kind_asks_for_an_update(browser, language, text):
    """A later server may send kinds that an open page does not know. The server refuses unknown kinds."""
    with serving() as address, visiting(browser, address) as visit:
        page = visit(language=language)
        open_chat(page, "Design review")
        page.evaluate("""() => {
          const { state } = chatApp;
          const seqs = Array.from({ length: 300 }, (_, index) => 2400 - index);
          const event = seqs.map((seq) => state.thread("1design000000").event(seq)).find((each) => each?.kind === "org.example.whiteboard");
          globalThis.unknown = event?.seq;
        }""")
        page.evaluate("chatApp.view.openConversation('1design000000', { seq: unknown })")
        bubble = page.locator(".item .bubble .recalled", has_text=text).first
        bubble.wait_for()
        assert text in bubble.locator("xpath=ancestor::*[@role='article']").get_attribute("aria-label")


def test_the_text_of_a_message_of_an_applications_kind_is_shown(person, chat):
    conv = chat.pair("alice", "bob")
    chat.do("bob", "send", conv=conv, kind="x.chess", body={"moves": ["e4"]})
    chat.do("bob", "send", conv=conv, kind="x.chess", body={"moves": ["e4"], "text": "Pawn to e4 https://chess.example/1"})
    alice = person("alice")
    alice.locator(".chat-list .row", has_text="Pawn to e4").click()
    alice.locator(".bubble .text", has_text="Pawn to e4").locator("a[href='https://chess.example/1']").wait_for()
    alice.locator(".bubble .recalled", has_text="Update to see this message").wait_for()


def test_the_picture_of_an_invite_link_is_shown_before_joining(person, chat):
    alice, weilin = person("alice"), person("weilin")
    blob = alice.evaluate("async (bytes) => (await chatApp.state.port.request('upload', { file: new File([Uint8Array.from(bytes)], 'a.png', { type: 'image/png' }) })).blob", list(png()))
    conv = make_group(chat, "Invited")
    chat.do("alice", "conversation.set", conv=conv, avatar=blob)
    code = chat.do("alice", "link.create", conv=conv)["link"]["code"]
    with weilin.expect_response(lambda answer: f"/api/blobs/{blob}" in answer.url) as answer:
        weilin.evaluate("(code) => import('./js/views/directory.js').then(({ openLink }) => openLink(chatApp.view, code))", code)
    assert answer.value.status == 200 and f"link={code}" in answer.value.url
    image = weilin.locator("dialog .avatar img")
    image.wait_for()
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0


def test_the_modules_bound_what_peers_send(person):
    alice = person("alice")
    found = alice.evaluate("""async () => {
      const load = (path) => import(`./js/${path}.js`);
      const [{ levelsOf, waveOf }, { coordinatesOf }, { linksOf }, { bounded, zoomed }, { blurCanvas, blurHash }, { slide }, { bodyOf }] =
        await Promise.all(["media/wave", "views/place", "text/links", "views/zoom", "text/blurhash", "views/voicebar", "views/attachments"].map(load));
      const pixels = { width: 8, height: 6, data: new Uint8ClampedArray(8 * 6 * 4).fill(180) };
      const canvas = blurCanvas(blurHash(pixels));
      const context = { state: chatApp.state, actions: {} };
      const shown = bodyOf(context, { kind: "file", conv: "c", key: "k", body: { name: "photo\\u202egpj.exe", size: 1e300, blob: "x" } });
      const odd = bodyOf(context, { kind: "audio", conv: "c", key: "k", body: { duration: -5, wave: "zz".repeat(9000) } });
      return {
        waves: [levelsOf("0".repeat(1000)).length, levelsOf("<b>").length, levelsOf(7).length, levelsOf("00ff").join(), waveOf([]), waveOf(Array(900).fill(0.5)).length, levelsOf("ff".repeat(100)).length],
        places: [coordinatesOf({ latitude: "1", longitude: 2 }), coordinatesOf({ latitude: NaN, longitude: 2 }), coordinatesOf({ latitude: 91, longitude: 2 }), coordinatesOf({ latitude: 1, longitude: 2, accuracy: Infinity })],
        links: linksOf({ text: "http://a.example http://a.example javascript:alert(1)", entities: [{ type: "link", url: "javascript:alert(1)" }, { type: "link", url: "https://b.example" }, { type: "link", url: 7 }] }),
        zoom: [zoomed({ scale: 1, x: 0, y: 0 }, 99).scale, zoomed({ scale: 1, x: 0, y: 0 }, 2, 10, 0).x, bounded({ scale: 2, x: 999, y: 0 }, 100, 100).x, zoomed({ scale: 3, x: 9, y: 9 }, 0.1).x],
        slides: [slide(-91, 0), slide(0, -71), slide(-10, -10), slide(91, 0, true)],
        blur: [...canvas.getContext("2d").getImageData(4, 4, 1, 1).data].slice(0, 3).map((value) => Math.abs(value - 180) < 8),
        name: shown.querySelector(".name").textContent, time: odd.querySelector(".time").textContent, bars: odd.querySelectorAll(".wave i").length,
      };
    }""")
    assert found == {
        "waves": [0, 0, 0, "0,1", None, 200, 48],
        "places": [None, None, None, {"latitude": 1, "longitude": 2, "accuracy": 0}],
        "links": ["https://b.example", "http://a.example"],
        "zoom": [8, -10, 50, 0],
        "slides": ["cancel", "lock", None, "cancel"],
        "blur": [True, True, True],
        "name": "photogpj.exe", "time": "0:00", "bars": 0,
    }


def test_a_caption_is_edited_with_its_formats(person, chat):
    alice = person("alice")
    conv = in_group(chat, "Caption", alice)
    choose_pictures(alice, "a.png")
    alice.fill("#message", "First **words**")
    alice.keyboard.press("Enter")
    bubble(alice, "First words").locator("strong").wait_for()
    alice.locator(LAST_SENT).wait_for()
    alice.locator(".picture").click(button="right")
    alice.get_by_role("menuitem", name="Edit", exact=True).click()
    eventually(alice, "document.querySelector('#message').value === 'First **words**'")
    write(alice, "Second *words*")
    bubble(alice, "Second words").locator("em").wait_for()
    assert bodies(chat, conv, "image")[0]["text"] == "Second words"


@pytest.mark.parametrize(("theme", "size", "language"), [("light", DESKTOP, "en"), ("dark", PHONE, "zh")], ids=["light-desktop", "dark-phone"])
def test_axe_finds_no_violations(person, chat, theme, size, language):
    bob = person("bob")
    conv = in_group(chat, f"Access {theme}", bob)
    choose_pictures(bob, "a.png", "b.png")
    bob.fill("#message", "A **caption**")
    bob.keyboard.press("Enter")
    send_voice(bob, conv)
    chat.do("bob", "send", conv=conv, kind="location", body={"latitude": 54.3, "longitude": 10.1, "accuracy": 9000, "name": "Kiel"})
    chat.do("bob", "send", conv=conv, kind="card", body={"user": "carol"})
    bob.set_input_files("input[type=file]", files("plan.pdf"))
    bob.keyboard.press("Enter")
    bob.locator("a.file").wait_for()
    bob.locator(".voice .play:enabled").wait_for()
    bob.locator(LAST_SENT).wait_for()
    # The media are listed from the search index, which is updated after the log.
    deadline = time.monotonic() + 20
    while not chat.ask("bob", "search", {"conv": conv, "kinds": ["file"]})["hits"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)

    alice = person("alice", size, **RECORDS)
    alice.evaluate("(theme) => chatApp.setPreference('theme', theme)", theme)
    alice.evaluate("(language) => chatApp.setPreference('language', language)", language)
    open_pair(alice, conv)
    attach = "document.querySelector('.composer .icon-button:has(.icon-paperclip)').click(), document.querySelector('.menu [role=menuitem]:has(.icon-%s)').click()"
    media = "chatApp.view.toggleDetails(true), document.querySelector('.details [data-action=media]').click(), document.querySelectorAll('dialog [role=tab]')[%d].click()"
    screens = [
        ("log", "0", ".voice"),
        ("recording", "document.querySelector('#record').click()", ".record-strip .wave i"),
        ("album", "document.querySelector('.log').scrollTop = 0", ".album .picture"),
        ("viewer", "document.querySelector('.album .picture').click()", ".viewer .stage > img"),
        ("location", attach % "pinPlace", "dialog .input-pair"),
        ("camera", attach % "video", "dialog .camera"),
        *[(f"media {tab}", media % tab, f"dialog {ready}") for tab, ready in ((0, ".picture"), (1, "a.file"), (3, ".voice"))],
    ]
    found = []
    for name, action, ready in screens:
        if name == "album":  # the end of the recording may still move the log
            eventually(alice, f"(() => {{ {action}; return Boolean(document.querySelector('{ready}')); }})()")
        else:
            alice.evaluate(action)
        alice.locator(ready).first.wait_for()
        picture(alice, f"media-{name.replace(' ', '-')}-{theme}-{size['width']}")
        found.extend((name, *each) for each in violations(alice))
        assert alice.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        if name == "recording":
            alice.keyboard.press("Escape")
            alice.locator(".record-strip").wait_for(state="hidden")
        alice.evaluate("document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close())")
    assert found == []
