// The chat page. Shows the sign-in card or the chat; the address after # selects the conversation.

import { logout } from "./chat/api.js";
import { ChatClient } from "./chat/client.js";
import { clearSession, loadSession, onSessionChange, saveSession } from "./chat/session.js";
import { locale, t } from "./i18n.js";
import { makeConversationPane } from "./ui/conversation.js";
import { addressOf, readAddress } from "./ui/address.js";
import { newChatDialog, newGroupDialog } from "./ui/dialogs.js";
import { h, toast } from "./ui/dom.js";
import { showAuth } from "./ui/auth.js";
import { makeSidebar } from "./ui/sidebar.js";
import { Pictures } from "./ui/pictures.js";

const root = document.getElementById("app");
let leave = () => {}; // removes the current view

document.documentElement.lang = locale;
onSessionChange((session) => show(session));
show(loadSession());

function show(session, notice) {
  leave();
  leave = () => {};
  document.title = "Apus";
  if (session) return showChat(session);
  showAuth(root, { notice, done: (begun) => {
    saveSession(begun);
    show(begun);
  } });
}

async function showChat(session) {
  let left = false;
  leave = () => { left = true; };
  const chat = await ChatClient.open(session);
  if (left) return;

  const pictures = new Pictures(session.token);
  const page = h("div", { class: "app" });
  const sidebar = makeSidebar(chat, {
    select: go,
    newChat: () => newChatDialog(chat, go),
    newGroup: () => newGroupDialog(chat, go),
    signOut: () => {
      clearSession(session.token);
      show(null);
      logout(session.token).catch(() => {}); // without a connection, the token remains valid until it expires
    },
  });
  const pane = makeConversationPane(chat, pictures, { back: () => go(null) });
  page.append(sidebar.element, pane.element);
  root.replaceChildren(page);

  let opened;
  function route() {
    const { id, isBroken } = readAddress(location.hash);
    const wanted = id !== null && chat.conversations.has(id) ? id : null;
    if (isBroken || (id !== null && wanted === null && chat.loaded)) {
      history.replaceState(null, "", location.pathname);
      toast(t("noSuchChat"));
    }
    if (wanted === opened) return;
    opened = wanted;
    page.classList.toggle("reading", wanted !== null);
    sidebar.select(wanted);
    pane.open(wanted);
  }
  /**
   * Opens a conversation, or the list for null. On a phone, the back gesture returns to the list.
   */
  function go(id) {
    if (id === null) history.replaceState(null, "", location.pathname);
    else if (opened) history.replaceState(null, "", addressOf(id));
    else history.pushState(null, "", addressOf(id));
    route();
  }

  function title() {
    document.title = chat.unread > 0 ? `(${chat.unread}) Apus` : "Apus";
    route(); // the conversation in the address may have been loaded
  }

  chat.on("conversations", title);
  chat.on("ended", (reason) => {
    clearSession(session.token);
    show(null, t(reason === "logged_out" ? "signedOutElsewhere" : "sessionEnded"));
  });
  addEventListener("popstate", route);
  addEventListener("hashchange", route);
  leave = () => {
    removeEventListener("popstate", route);
    removeEventListener("hashchange", route);
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    history.replaceState(null, "", location.pathname);
    chat.stop();
    pictures.close();
  };
  route();
  chat.start();
}
