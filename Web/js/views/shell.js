// The panes of a signed-in user: list, thread, details; addresses, shortcuts, dialogs.

import { announce, h, Scope } from "./dom.js";
import { icon, logo } from "./icons.js";
import { addressOf, readAddress } from "./address.js";
import { confirm, openDialog } from "./dialog.js";
import { preparePanels, withPanels } from "./later.js";
import { copyText, saveText } from "./clipboard.js";
import { openSearch } from "./search.js";
import { Sidebar } from "./sidebar.js";
import { ThreadView } from "./thread.js";
import { attempt, clearToasts, toast } from "./toast.js";
import { closeMenu } from "./menu.js";
import { headTitle, isGroup, userName } from "./model.js";
import { t } from "../i18n/index.js";

export class Shell {
  #scope = new Scope();
  #isWaiting = false; // whether the focus waits for the first row of the list
  #unknown = null; // ends the wait for the conversation of an address
  #showsDetails = false; // also true while they are being loaded
  #isClosed = false;

  constructor(app) {
    this.owner = app;
    this.state = app.state;
    this.openID = null;
    this.sidebar = new Sidebar(this);
    this.placeholder = h("main", { class: "pane thread-pane" }, h("div", { class: "empty" }, logo(), h("h2", {}, t("selectChat")), h("p", {}, t("selectChatHint"))));
    this.element = h("div", { class: "panes" }, h("h1", { class: "visually-hidden" }, t("appName")), this.sidebar.element, this.placeholder);
    this.narrow = matchMedia("(max-width: 720px)");
    this.#scope.listen(this.narrow, "change", () => this.#nameMain());
    this.#nameMain();
    this.#scope.listen(document, "keydown", (event) => this.#typed(event));
    this.#scope.listen(window, "popstate", () => this.#route());
    this.#scope.listen(window, "hashchange", () => this.#route());
    this.#scope.add(this.state.subscribe("notice", () => this.#notice()));
    this.#scope.add(this.state.subscribe("conversations", () => { this.#checkOpen(); this.#focusFirst(); }));
  }

  get preferences() {
    return this.owner.preferences;
  }

  setPreference(name, value) {
    return this.owner.setPreference(name, value);
  }

  start() {
    this.sidebar.update();
    this.#route();
    if (!this.openID) this.focusList();
    // An invite link is `/join#CODE`, so that the HTTP request does not contain the code. It is
    // removed from the address.
    const code = /^#([A-Za-z0-9_-]{8,64})$/.exec(location.hash)?.[1];
    if (code && location.pathname.endsWith("/join")) {
      history.replaceState(null, "", new URL(".", location.href).pathname + location.search);
      this.#panel(({ openLink }) => openLink(this, code));
    }
    if (this.owner.recovery) this.showRecovery({ recovery: this.owner.recovery });
    this.owner.recovery = null;
    preparePanels();
  }

  close() {
    this.#isClosed = true;
    closeMenu();
    announce(""); // the last message must not stay in the page
    if (this.state.session.phase !== "signedIn") clearToasts();
    this.#unknown?.();
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    this.thread?.close();
    this.details?.close();
    this.sidebar.close();
    this.#scope.close();
    document.title = t("appName");
    this.element.remove();
  }

  focusList() {
    requestAnimationFrame(() => { this.#isWaiting = !this.sidebar.rows.focus(); });
  }

  /** Focuses the list after the first sync has filled it. */
  #focusFirst() {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    if (!this.thread && document.activeElement === document.body) this.focusList();
  }

  /**
   * Sets the role of the list, which is the main part of the page on a narrow screen without an
   * open conversation.
   */
  #nameMain() {
    this.sidebar.element.setAttribute("role", this.narrow.matches && !this.openID ? "main" : "navigation");
  }

  updateTitle() {
    const unread = this.state.unread ?? 0;
    document.title = unread ? `(${unread}) ${t("appName")}` : t("appName");
  }

  #route() {
    const { conv, seq, thread } = readAddress(location.hash);
    if (conv && this.state.conversation(conv)) {
      this.#open(conv, { seq, thread });
    } else {
      this.#closeThread();
      if (conv) this.#await(conv);
    }
  }

  /** Waits for the conversation of an address, which is not known before the first sync. */
  #await(conv) {
    this.#unknown?.();
    const check = () => {
      const isKnown = Boolean(this.state.conversation(conv));
      if (!isKnown && this.state.connection?.state !== "online") return;
      this.#unknown?.();
      this.#unknown = null;
      if (location.hash.split("/")[2] !== conv) return;
      if (isKnown) return this.#route();
      history.replaceState(null, "", location.pathname + location.search);
      toast(t("unknownLink"));
    };
    const ends = ["connection", "conversations"].map((key) => this.state.subscribe(key, check));
    this.#unknown = () => { for (const end of ends) end(); };
    check();
  }

  openConversation(conv, { seq = null, thread = null } = {}) {
    const address = addressOf(conv, seq, thread);
    if (location.hash === address && this.thread) {
      if (seq !== null) this.thread.jumpTo(seq);
      else this.thread.composer?.focus();
      return;
    }
    if (this.openID && thread === null) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.#route();
  }

  #open(conv, { seq = null, thread = null }) {
    if (this.thread && this.openID === conv && this.thread.thread === thread) {
      if (seq !== null) this.thread.jumpTo(seq);
      return;
    }
    this.thread?.close();
    this.openID = conv;
    const peer = this.state.conversation(conv)?.peer;
    if (peer) this.state.refresh(peer.name);
    this.thread = new ThreadView(this, conv, { seq, thread });
    this.placeholder.remove();
    this.element.insertBefore(this.thread.element, this.details?.element ?? null);
    this.element.classList.add("has-open");
    this.#nameMain();
    attempt(Promise.resolve(this.state.show?.([conv])));
    if (this.#showsDetails) this.#showDetails();
    this.sidebar.refresh();
    // The on-screen keyboard of a touch device would hide the messages.
    if (matchMedia("(pointer: fine)").matches) this.thread.composer?.focus();
  }

  closeThread() {
    if (location.hash) history.pushState(null, "", location.pathname + location.search);
    this.#closeThread();
  }

  #closeThread() {
    if (!this.thread) return;
    const former = this.openID;
    this.thread.close();
    this.thread = null;
    this.openID = null;
    this.toggleDetails(false);
    this.element.classList.remove("has-open");
    this.#nameMain();
    this.element.append(this.placeholder);
    this.state.show?.([])?.catch?.(() => {});
    this.sidebar.refresh();
    requestAnimationFrame(() => {
      const row = former && this.sidebar.element.querySelector(`[data-conv="${CSS.escape(former)}"]`);
      if (row) row.focus({ preventScroll: true });
      else this.sidebar.rows.focus();
    });
  }

  back() {
    if (this.thread?.thread !== null && this.thread) this.openConversation(this.openID);
    else this.closeThread();
  }

  #checkOpen() {
    if (!this.openID || this.state.conversation(this.openID)) return;
    const { head } = this.thread;
    // Notify the user of the removal, or of the deletion of the group.
    if (head && isGroup(head) && head.role !== "owner") toast(t("notMember", { title: headTitle(this.state, head) }));
    this.closeThread();
  }

  // Details

  async toggleDetails(shown = !this.#showsDetails) {
    this.#showsDetails = shown;
    if (shown) {
      await this.#showDetails();
      if (this.#showsDetails) this.details?.focus();
    } else if (this.details) {
      this.details.close();
      this.details = null;
      this.element.classList.remove("with-details");
      this.thread?.list.layout();
    }
  }

  #showDetails() {
    return this.#panel(({ DetailsView }) => {
      if (!this.#showsDetails) return;
      this.details?.close();
      this.details = new DetailsView(this, this.openID);
      this.element.classList.add("with-details");
      this.element.append(this.details.element);
    });
  }

  // Dialogs

  #panel(open) { return withPanels((panels) => (this.#isClosed ? undefined : open(panels))); }
  newChat() { return this.#panel(({ newChat }) => newChat(this)); }
  newGroup(kind) { return this.#panel(({ newGroup }) => newGroup(this, kind)); }
  contacts() { return this.#panel(({ showContacts }) => showContacts(this)); }
  explore() { return this.#panel(({ openDirectory }) => openDirectory(this)); }
  settings(page) { return this.#panel(({ openSettings }) => openSettings(this, page)); }
  search(options = {}) { openSearch(this, options); } // opened synchronously, so that its field receives the keys after Ctrl+K
  openProfile(name) { return this.#panel(({ openProfile }) => openProfile(this, name)); }
  report(what) { return this.#panel(({ report }) => report(this, what)); }

  openSelf() {
    if (this.state.session.self) this.openConversation(this.state.session.self);
  }

  async openPerson(name) {
    const conv = await attempt(this.state.openConversation(name));
    if (conv) this.openConversation(conv);
  }

  async signOut() {
    const unsent = this.state.unsent ?? 0;
    const detail = unsent ? t("signOutUnsent", { n: unsent }) : null;
    if (await confirm(t("signOutQuestion"), { yes: t("signOut"), dangerous: unsent > 0, detail })) await attempt(this.state.signOut({ force: unsent > 0 }));
  }

  showRecovery({ recovery } = {}) {
    if (!recovery?.length) return;
    const text = recovery.join("\n");
    // The codes are shown once, so that only a button closes the dialog.
    const dialog = openDialog(t("recoveryCodes"), [
      h("div", { class: "dialog-body" }, h("p", {}, t("recoveryCodesHint")), h("pre", { class: "codes", tabindex: "0" }, text),
        h("div", { class: "button-row" }, h("button", { type: "button", class: "button", onclick: () => copyText(text) }, icon("copy"), t("copy")),
          h("button", { type: "button", class: "button", onclick: () => saveText(text, `apus-${this.state.account?.name}.txt`) }, icon("download"), t("download")))),
      h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button primary", onclick: () => dialog.close() }, t("recoveryKept"))),
    ], { stays: true, onclose: () => { if (document.activeElement === document.body) this.focusList(); } });
  }

  #notice() {
    const { notice } = this.state;
    if (!notice) return;
    if (notice.kind === "update") toast(t("updateReady"), { seconds: 60, action: { label: t("reload"), run: () => location.reload() } });
    else if (notice.kind === "device.add") toast(t("newSignIn", { name: notice.name }), { role: "alert", seconds: null, action: { label: t("sessions"), run: () => this.settings("sessions") } });
    else if (notice.kind === "contact.request" && this.thread?.head?.peer?.name === notice.user) return; // the chat shows the request
    else if (notice.kind === "contact.request") this.#tell("newRequest", notice.user, { seconds: 10, action: { label: t("show"), run: () => this.openProfile(notice.user) } });
    else if (notice.kind === "contact.accept") this.#tell("nowContact", notice.user);
    else if (notice.text) toast(notice.text);
  }

  /** Shows a toast about a user, whose profile is requested first. */
  async #tell(key, name, options) {
    await this.state.refresh(name);
    toast(t(key, { name: userName(this.state, name) }), options);
  }

  // Keyboard

  #typed(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      closeMenu();
      if (!document.querySelector("dialog[open]")) this.search({ quick: true });
      return;
    }
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (this.thread?.selected.size) this.thread.actions.clearSelection();
    else if (this.details) this.toggleDetails(false), this.thread?.composer?.focus();
    else if (this.thread?.composer?.cancel()) return;
    else if (this.thread) this.back();
    else this.focusList();
    event.preventDefault();
  }
}
