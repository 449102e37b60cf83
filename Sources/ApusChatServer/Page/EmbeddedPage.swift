// swift-format-ignore-file
// Written by scripts/embed-page. Do not edit it: change the files of the page and run the script.

/// The files of the page.
enum EmbeddedPage {
    static let files: [EmbeddedFile] = [
        _css_base_css,
        _css_chat_css,
        _css_test_css,
        _img_favicon_svg,
        _index_html,
        _js_chat_api_js,
        _js_chat_client_js,
        _js_chat_conflict_js,
        _js_chat_conversation_js,
        _js_chat_log_js,
        _js_chat_marks_js,
        _js_chat_outbox_js,
        _js_chat_sender_js,
        _js_chat_session_js,
        _js_chat_tasks_js,
        _js_chat_text_js,
        _js_i18n_js,
        _js_main_js,
        _js_socketio_backoff_js,
        _js_socketio_emitter_js,
        _js_socketio_engine_js,
        _js_socketio_enginepackets_js,
        _js_socketio_errors_js,
        _js_socketio_index_js,
        _js_socketio_manager_js,
        _js_socketio_packets_js,
        _js_socketio_socket_js,
        _js_test_js,
        _js_ui_address_js,
        _js_ui_auth_js,
        _js_ui_avatar_js,
        _js_ui_composer_js,
        _js_ui_conversation_js,
        _js_ui_describe_js,
        _js_ui_dialogs_js,
        _js_ui_dom_js,
        _js_ui_format_js,
        _js_ui_icons_js,
        _js_ui_jumps_js,
        _js_ui_lightbox_js,
        _js_ui_message_js,
        _js_ui_pictures_js,
        _js_ui_sidebar_js,
        _js_ui_status_js,
        _js_ui_thread_js,
        _js_ui_viewport_js,
        _test_html,
    ]

    private static let _css_base_css = EmbeddedFile(path: "css/base.css", content: .text(#"""
/* Colors, type, buttons and fields, shared by all pages. */

:root {
  color-scheme: light dark;
  --sky: linear-gradient(135deg, #4f7cff, #7a4dff);
  --accent: #4a6cf7;
  --accent-strong: #3a58dd;
  --on-accent: #ffffff;
  --page: #eef0f6;
  --surface: #ffffff;
  --raised: #ffffff;
  --field: #f1f3f9;
  --hover: #f2f4fb;
  --selected: #e6ebff;
  --line: #e4e7f0;
  --text: #171a26;
  --muted: #646b80;
  --online: #1fa971;
  --warning: #b26a00;
  --warning-soft: #fff4df;
  --danger: #cf3145;
  --danger-soft: #ffecee;
  --theirs: #ffffff;
  --thread: #f4f6fb;
  --shadow: 0 1px 2px rgb(20 25 50 / 7%);
  --shadow-large: 0 18px 50px rgb(25 30 70 / 18%), 0 2px 8px rgb(25 30 70 / 8%);
  --radius: 14px;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans", "DejaVu Sans", sans-serif;
  font-size: 15px;
  line-height: 1.45;
  -webkit-text-size-adjust: 100%;
}

@media (prefers-color-scheme: dark) {
  :root {
    --accent: #6f8cff;
    --accent-strong: #8aa2ff;
    --page: #0d0f16;
    --surface: #14161f;
    --raised: #1c1f2b;
    --field: #1f2330;
    --hover: #1c202c;
    --selected: #262d4a;
    --line: #262a38;
    --text: #e9ebf3;
    --muted: #979eb3;
    --online: #3ecf8e;
    --warning: #f1b256;
    --warning-soft: #352a17;
    --danger: #ff7683;
    --danger-soft: #3a1d24;
    --theirs: #222635;
    --thread: #10121a;
    --shadow: 0 1px 2px rgb(0 0 0 / 35%);
    --shadow-large: 0 18px 50px rgb(0 0 0 / 55%);
  }
}

* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; }
body { background: var(--page); color: var(--text); -webkit-font-smoothing: antialiased; }
h1, h2, p, ul { margin: 0; padding: 0; }
ul { list-style: none; }
[hidden] { display: none !important; }
button, input, textarea, select { font: inherit; color: inherit; }
button { cursor: pointer; border: 0; background: none; padding: 0; touch-action: manipulation; }
button:disabled { cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
input:focus-visible, textarea:focus-visible, select:focus-visible { outline: none; } /* replaced by a ring */
::selection { background: rgb(90 120 255 / 30%); }

.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.icon { width: 22px; height: 22px; fill: none; stroke: currentcolor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; flex: none; }

.brand-mark { display: inline-grid; place-items: center; width: 64px; height: 64px; border-radius: 20px; background: var(--sky); color: #fff; box-shadow: 0 8px 22px rgb(90 90 255 / 32%); flex: none; }
.brand-mark .logo { width: 78%; height: 78%; fill: currentcolor; }
.brand-mark.small { width: 34px; height: 34px; border-radius: 11px; box-shadow: none; }
.brand-mark.large { width: 92px; height: 92px; border-radius: 28px; }

.icon-button { display: inline-grid; place-items: center; width: 40px; height: 40px; border-radius: 12px; color: var(--muted); transition: background 0.12s, color 0.12s; flex: none; }
.icon-button:hover { background: var(--hover); color: var(--text); }

.primary { padding: 11px 20px; border-radius: 12px; background: var(--sky); color: var(--on-accent); font-weight: 600; transition: filter 0.12s, transform 0.06s; }
.primary:hover:not(:disabled) { filter: brightness(1.07); }
.primary:active:not(:disabled) { transform: translateY(1px); }
.primary:disabled { opacity: 0.45; }
.wide { width: 100%; }
.link { color: var(--accent); font-weight: 600; border-radius: 4px; }
.link:hover { text-decoration: underline; }

input:not([type="file"]), textarea, select { width: 100%; padding: 11px 14px; border: 1px solid transparent; border-radius: 12px; background: var(--field); outline: none; transition: border-color 0.12s, box-shadow 0.12s; }
input::placeholder, textarea::placeholder { color: var(--muted); opacity: 1; }
input:focus, textarea:focus, select:focus { border-color: var(--accent); box-shadow: 0 0 0 3px rgb(90 120 255 / 18%); }
input[type="search"]::-webkit-search-cancel-button { display: none; }

.card { background: var(--raised); border: 1px solid var(--line); border-radius: 22px; box-shadow: var(--shadow-large); color: var(--text); }
.badge { display: inline-grid; place-items: center; min-width: 21px; height: 21px; padding: 0 6px; border-radius: 11px; background: var(--accent-strong); color: #fff; font-size: 12px; font-weight: 700; font-variant-numeric: tabular-nums; }
.form-error { color: var(--danger); font-size: 14px; }
.form-error:empty { display: none; }

@media (prefers-color-scheme: dark) { .badge { background: #5b78f5; } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation-duration: 0.01ms !important; transition-duration: 0.01ms !important; } }

"""#))

    private static let _css_chat_css = EmbeddedFile(path: "css/chat.css", content: .text(#"""
/* The chat page. One pane below 760 px, two above. */

/* --- sign-in --- */
.auth { min-height: 100dvh; display: grid; place-items: center; padding: 24px 16px; background: radial-gradient(900px 520px at 15% 0%, rgb(90 124 255 / 20%), transparent 65%), radial-gradient(800px 520px at 95% 100%, rgb(130 77 255 / 18%), transparent 65%); }
.auth-card { width: min(400px, 100%); padding: 34px 30px 26px; display: flex; flex-direction: column; gap: 14px; }
.brand { display: flex; flex-direction: column; align-items: center; text-align: center; gap: 6px; margin-bottom: 8px; }
.brand h1 { margin-top: 8px; font-size: 28px; line-height: 1.15; letter-spacing: -0.02em; }
.tagline { color: var(--muted); max-width: 30ch; }
.field { position: relative; display: flex; flex-direction: column; gap: 5px; }
.field-label { font-size: 13px; font-weight: 600; color: var(--muted); }
.field .peek { position: absolute; right: 3px; bottom: 3px; }
.field:has(.peek) input { padding-right: 48px; }
.peek[aria-pressed="true"] { color: var(--accent); }
.hint { font-size: 12.5px; color: var(--muted); margin: -9px 2px 0; }
.notice { padding: 10px 14px; border-radius: 12px; background: var(--warning-soft); color: var(--warning); font-size: 14px; }
.auth-card .primary { margin-top: 4px; }
.switch { text-align: center; color: var(--muted); font-size: 14px; }

/* --- the frame --- */
.app { height: 100dvh; display: grid; grid-template-columns: minmax(290px, 360px) minmax(0, 1fr); background: var(--surface); }
.sidebar { display: flex; flex-direction: column; min-height: 0; min-width: 0; border-right: 1px solid var(--line); background: var(--surface); }
.pane { display: flex; flex-direction: column; min-height: 0; min-width: 0; background: var(--thread); }
.bar { display: flex; align-items: center; gap: 10px; min-height: 64px; padding: 10px 14px 10px 16px; }
.sidebar .bar h1 { flex: 1; font-size: 21px; letter-spacing: -0.015em; }
.sidebar .bar { gap: 4px; }
.sidebar .bar .brand-mark { margin-right: 8px; }
.foot { border-top: 1px solid var(--line); padding-bottom: max(10px, env(safe-area-inset-bottom)); }
.me, .peer { flex: 1; min-width: 0; display: flex; align-items: center; gap: 12px; }
.who { min-width: 0; display: flex; flex-direction: column; line-height: 1.3; }
.who > * { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.who h2 { font-size: 16px; }
.sub { color: var(--muted); font-size: 13px; }
.sub.online { color: var(--online); }

.search { position: relative; padding: 0 14px 10px; }
.search .icon { position: absolute; left: 26px; top: 11px; width: 19px; height: 19px; color: var(--muted); pointer-events: none; }
.search input { padding: 9px 12px 9px 40px; }

.pill { display: flex; align-items: center; gap: 9px; margin: 0 14px 10px; padding: 7px 13px; border-radius: 99px; background: var(--warning-soft); color: var(--warning); font-size: 13px; font-weight: 500; transition: opacity 0.3s, margin 0.3s, padding 0.3s, max-height 0.3s; max-height: 60px; overflow: hidden; }
.pill-text { flex: 1; }
.pill-dot { width: 8px; height: 8px; border-radius: 50%; background: currentcolor; animation: pulse 1.2s ease-in-out infinite alternate; flex: none; }
.pill[data-state="online"] { background: color-mix(in srgb, var(--online) 14%, transparent); color: var(--online); }
.pill[data-state="online"] .pill-dot { animation: none; }
.pill.quiet { opacity: 0; max-height: 0; margin-block: 0; padding-block: 0; }
@keyframes pulse { from { opacity: 0.35; } to { opacity: 1; } }

/* --- list of chats --- */
.avatar { position: relative; display: inline-grid; place-items: center; width: 46px; height: 46px; border-radius: 50%; color: #fff; font-weight: 600; font-size: 17px; letter-spacing: 0.01em; flex: none; user-select: none; }
.avatar.group { border-radius: 16px; }
.avatar .dot { position: absolute; right: 0; bottom: 0; width: 13px; height: 13px; border-radius: 50%; background: var(--online); border: 2.5px solid var(--surface); }
.hue-0 { --hue: #5b7cfa; --hue-end: #7a5cf5; }
.hue-1 { --hue: #f27a54; --hue-end: #e8507a; }
.hue-2 { --hue: #23a98c; --hue-end: #1b8fb3; }
.hue-3 { --hue: #b764e0; --hue-end: #8552df; }
.hue-4 { --hue: #e0a02c; --hue-end: #dd7436; }
.hue-5 { --hue: #2f98dc; --hue-end: #3c6fe0; }
.hue-6 { --hue: #e0609f; --hue-end: #b84fc4; }
.hue-7 { --hue: #55a84a; --hue-end: #259a74; }
.avatar { background: linear-gradient(140deg, var(--hue), var(--hue-end)); }
.bar .avatar { width: 40px; height: 40px; font-size: 15px; }
.bar .avatar.group { border-radius: 14px; }

.chats { flex: 1; overflow-y: auto; padding: 2px 8px 8px; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--line) transparent; }
.chats:empty { flex: 0; padding: 0; }
.chat { display: grid; grid-template: "avatar title time" auto "avatar preview badge" 21px / 46px minmax(0, 1fr) auto; column-gap: 12px; row-gap: 2px; align-items: center; width: 100%; padding: 10px; border-radius: var(--radius); text-align: left; transition: background 0.1s; }
.chat:hover { background: var(--hover); }
.chat.current { background: var(--selected); }
.chat .avatar { grid-area: avatar; }
.chat.current .dot { border-color: var(--selected); }
.chat:focus-visible { outline-offset: -2px; }
.chat-title { grid-area: title; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; align-self: end; }
.chat-time { grid-area: time; color: var(--muted); font-size: 12.5px; align-self: end; font-variant-numeric: tabular-nums; }
.chat-preview { grid-area: preview; color: var(--muted); font-size: 14px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.chat-preview.failed { color: var(--danger); }
.chat .badge { grid-area: badge; justify-self: end; }
.chat.unread .chat-preview { color: var(--text); }
.chat.unread .chat-time { color: var(--accent); font-weight: 600; }

.empty { display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 6px; text-align: center; color: var(--muted); padding: 28px; }
.empty strong { color: var(--text); font-size: 17px; }
.empty .primary { margin-top: 12px; }
.empty.small { flex: 1; justify-content: flex-start; padding-top: 40px; }
.empty:has(.skeleton) { padding: 4px 18px; align-items: stretch; gap: 18px; }
.welcome { flex: 1; }
.welcome strong { margin-top: 18px; font-size: 20px; }
.welcome p { max-width: 36ch; }
.skeleton { display: grid; grid-template-columns: 46px 1fr; gap: 12px; align-items: center; padding-top: 10px; }
.skeleton span { height: 46px; border-radius: 50%; background: var(--field); animation: pulse 0.9s ease-in-out infinite alternate; }
.skeleton span + span { height: 16px; border-radius: 8px; }

/* --- a conversation --- */
.conversation { position: relative; flex: 1; min-height: 0; display: flex; flex-direction: column; }
.conversation > .bar { background: var(--surface); border-bottom: 1px solid var(--line); }
.back { display: none; }
.thread { position: relative; flex: 1; min-height: 0; }
.scroller { position: absolute; inset: 0; overflow-y: auto; overscroll-behavior: contain; overflow-anchor: none; scrollbar-width: thin; scrollbar-color: color-mix(in srgb, var(--muted) 40%, transparent) transparent; outline-offset: -2px; }
.messages { min-height: 100%; max-width: 880px; margin: 0 auto; padding: 12px 20px 16px; display: flex; flex-direction: column; }
.messages > :first-child { margin-top: auto; }
.top { min-height: 20px; display: grid; place-items: center; padding: 8px; color: var(--muted); font-size: 13px; }
.spinner { width: 22px; height: 22px; border-radius: 50%; border: 2.5px solid var(--line); border-top-color: var(--accent); animation: turn 0.8s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }

.day, .new, .change { display: grid; place-items: center; margin: 14px 0 10px; font-size: 12.5px; }
.day span { padding: 3px 12px; border-radius: 99px; background: color-mix(in srgb, var(--surface) 88%, transparent); color: var(--muted); font-weight: 600; box-shadow: var(--shadow); }
.change span { color: var(--muted); text-align: center; }
.new { grid-template-columns: 1fr auto 1fr; gap: 12px; color: var(--accent); font-weight: 600; }
.new::before, .new::after { content: ""; width: 100%; height: 1px; background: color-mix(in srgb, var(--accent) 40%, transparent); }

.message { display: flex; align-items: flex-end; gap: 8px; margin-top: 2px; }
.message.first { margin-top: 10px; }
.message.mine { justify-content: flex-end; }
.message > .avatar, .avatar-space { width: 32px; height: 32px; font-size: 12.5px; flex: none; }
.column { max-width: min(78%, 560px); min-width: 0; display: flex; flex-direction: column; align-items: flex-start; }
.mine .column { align-items: flex-end; }
.bubble { position: relative; max-width: 100%; padding: 7px 12px 7px 13px; border-radius: 18px; background: var(--theirs); box-shadow: var(--shadow); display: flow-root; }
.theirs .bubble { border-bottom-left-radius: 6px; border-top-left-radius: 6px; }
.theirs.first .bubble { border-top-left-radius: 18px; }
.theirs.last .bubble { border-bottom-left-radius: 18px; }
.mine .bubble { background: linear-gradient(135deg, #4d74f5, #5f5cf0); color: #fff; border-bottom-right-radius: 6px; border-top-right-radius: 6px; }
.mine.first .bubble { border-top-right-radius: 18px; }
.mine.last .bubble { border-bottom-right-radius: 18px; }
.mine.last .bubble, .theirs.last .bubble { margin-bottom: 2px; }
.sender { display: block; font-size: 13px; font-weight: 650; color: color-mix(in srgb, var(--hue) 82%, var(--text)); }
.text { display: inline; white-space: pre-wrap; overflow-wrap: anywhere; }
.text a { color: var(--accent); text-underline-offset: 2px; }
.mine .text a { color: #fff; }
.text.unknown { font-style: italic; color: var(--muted); }
.meta { float: right; display: inline-flex; align-items: center; gap: 4px; margin: 7px -2px -2px 12px; color: var(--muted); font-size: 11.5px; line-height: 16px; font-variant-numeric: tabular-nums; user-select: none; }
.mine .meta { color: rgb(255 255 255 / 78%); }
.ticks { width: 16px; height: 16px; display: block; fill: none; stroke: currentcolor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.mark-read { color: #b9f3ff; }
.mark-failed { display: grid; place-items: center; width: 16px; height: 16px; border-radius: 50%; background: #fff; color: var(--danger); font-weight: 800; }
.message[data-state="waiting"] .bubble { opacity: 0.82; }
.failure { display: flex; flex-wrap: wrap; gap: 4px 12px; justify-content: flex-end; margin: 4px 4px 2px; color: var(--danger); font-size: 13px; }

.bubble.jumbo { background: none; box-shadow: none; padding: 0 4px; color: inherit; }
.jumbo .text { font-size: 44px; line-height: 1.2; display: block; }
.jumbo .meta, .mine .jumbo .meta { color: var(--muted); float: none; display: flex; justify-content: flex-end; margin: 2px 0 0; }
.jumbo .mark-read { color: var(--accent); }

.bubble.picture { padding: 4px; }
.bubble.picture .sender { padding: 3px 9px 4px; }
.bubble.picture .text { display: block; padding: 6px 9px 0; max-width: 340px; }
.bubble.picture .text + .meta { margin: 2px 7px 3px 12px; }
.thumb { display: block; max-width: 100%; border-radius: 14px; overflow: hidden; background: color-mix(in srgb, var(--muted) 22%, transparent); }
.thumb img { display: block; max-width: 100%; height: auto; object-fit: cover; transition: opacity 0.2s; }
.thumb.loading img, .thumb.broken img { opacity: 0; }
.thumb.loading { animation: pulse 0.9s ease-in-out infinite alternate; }
.thumb.broken { outline: 1px dashed currentcolor; outline-offset: -6px; }
.bubble.picture > .thumb + .meta { position: absolute; right: 12px; bottom: 10px; margin: 0; padding: 1px 8px; border-radius: 99px; background: rgb(0 0 0 / 52%); color: #fff; }

.jumps { position: absolute; right: 18px; bottom: 14px; display: flex; flex-direction: column; gap: 14px; }
.jump { position: relative; width: 42px; height: 42px; border-radius: 50%; display: grid; place-items: center; background: var(--raised); border: 1px solid var(--line); box-shadow: var(--shadow-large); color: var(--muted); }
.jump .badge { position: absolute; top: -8px; right: -4px; }

/* --- composer --- */
.composer { background: var(--surface); border-top: 1px solid var(--line); padding: 10px 14px max(10px, env(safe-area-inset-bottom)); }
.composer-row { display: flex; align-items: flex-end; gap: 8px; max-width: 880px; margin: 0 auto; }
.composer textarea { resize: none; padding: 9px 16px; border-radius: 20px; line-height: 22px; overflow-y: auto; scrollbar-width: none; display: block; }
.send { width: 40px; height: 40px; border-radius: 50%; display: grid; place-items: center; background: var(--sky); color: #fff; flex: none; transition: opacity 0.12s, transform 0.06s, filter 0.12s; }
.send:disabled { opacity: 0.35; filter: saturate(0.4); }
.send:active:not(:disabled) { transform: scale(0.94); }
.send .icon { width: 21px; height: 21px; }
.tray { display: flex; gap: 10px; overflow-x: auto; padding: 4px 2px 12px; max-width: 880px; margin: 0 auto; }
.tray-item { position: relative; flex: none; }
.tray-item img { display: block; width: 84px; height: 84px; object-fit: cover; border-radius: 14px; border: 1px solid var(--line); }
.tray-waiting { display: grid; place-items: center; width: 84px; height: 84px; border-radius: 14px; border: 1px solid var(--line); background: var(--field); }
.tray-remove { position: absolute; top: -4px; right: -6px; width: 24px; height: 24px; display: grid; place-items: center; border-radius: 50%; background: var(--text); color: var(--surface); }
.tray-remove .icon { width: 14px; height: 14px; stroke-width: 2.4; }
.drop-hint { display: none; position: absolute; inset: 12px; z-index: 5; border-radius: 22px; border: 2px dashed var(--accent); background: color-mix(in srgb, var(--surface) 90%, transparent); place-items: center; font-weight: 600; color: var(--accent); pointer-events: none; }
.dropping .drop-hint { display: grid; }

/* --- dialogs --- */
dialog { border: 0; padding: 0; }
dialog::backdrop { background: rgb(10 12 25 / 48%); backdrop-filter: blur(3px); }
.sheet { width: min(430px, calc(100vw - 24px)); height: min(600px, calc(100dvh - 40px)); border: 1px solid var(--line); overflow: hidden; }
.sheet[open] { display: flex; flex-direction: column; animation: rise 0.16s ease-out; }
@keyframes rise { from { opacity: 0; transform: translateY(10px); } }
.sheet header { display: flex; align-items: center; justify-content: space-between; padding: 14px 12px 10px 20px; }
.sheet h2 { font-size: 18px; }
.sheet footer { padding: 12px 16px 16px; border-top: 1px solid var(--line); }
.sheet .form-error { padding: 8px 20px; }
.dialog-body { flex: 1; min-height: 0; display: flex; flex-direction: column; gap: 10px; padding: 0 16px; }
.dialog-body .search { padding: 0; }
.dialog-body .search .icon { left: 12px; }
.people { flex: 1; overflow-y: auto; margin: 0 -8px; padding-bottom: 10px; scrollbar-width: thin; }
.person { display: flex; align-items: center; gap: 12px; width: 100%; padding: 8px; border-radius: var(--radius); text-align: left; }
.person:hover { background: var(--hover); }
.person .who { flex: 1; }
.person .icon { color: var(--accent); stroke-width: 2.4; margin-right: 6px; }
.person .dot { border-color: var(--raised); }
.more { padding: 10px; text-align: center; }
.nobody { padding: 24px; text-align: center; color: var(--muted); }
.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chips:empty { display: none; }
.chip { display: inline-flex; align-items: center; gap: 4px; padding: 4px 8px 4px 12px; border-radius: 99px; background: var(--selected); font-size: 14px; }
.chip .icon { width: 15px; height: 15px; }

.lightbox { width: 100vw; height: 100dvh; max-width: none; max-height: none; background: none; color: #fff; }
.lightbox[open] { display: grid; grid-template-rows: auto 1fr auto; }
.lightbox::backdrop { background: rgb(8 9 16 / 93%); }
.lightbox img { place-self: center; max-width: calc(100vw - 32px); max-height: calc(100dvh - 150px); border-radius: 10px; box-shadow: var(--shadow-large); animation: rise 0.16s ease-out; }
.lightbox-bar { display: flex; align-items: center; gap: 6px; padding: 12px 14px 12px 20px; }
.lightbox-title { flex: 1; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.lightbox .icon-button { color: #fff; }
.lightbox .icon-button:hover { background: rgb(255 255 255 / 14%); }
.lightbox-caption { text-align: center; padding: 0 24px 26px; overflow-wrap: anywhere; }

.toast { position: fixed; left: 50%; bottom: 92px; translate: -50% 0; padding: 11px 20px; border-radius: 14px; background: var(--text); color: var(--surface); font-weight: 500; box-shadow: var(--shadow-large); animation: rise 0.16s ease-out; transition: opacity 0.3s; z-index: 20; max-width: calc(100vw - 32px); }
.toast.leaving { opacity: 0; }

/* --- narrow windows: one pane --- */
@media (max-width: 759px) {
  .app { grid-template-columns: minmax(0, 1fr); }
  .app:not(.reading) .pane, .app.reading .sidebar { display: none; }
  .sidebar { border-right: 0; }
  .back { display: inline-grid; margin-left: -8px; }
  .conversation > .bar { padding-left: 14px; gap: 4px; }
  .messages { padding: 10px 12px 12px; }
  .column { max-width: 84%; }
  .composer { padding-inline: 8px; }
  .composer-row { gap: 4px; }
  .composer textarea, .sidebar input, .sheet input, .auth input { font-size: 16px; } /* below 16 px iOS zooms the page on focus */
  .sheet { width: 100vw; max-width: 100vw; height: 88dvh; margin: auto 0 0; border-radius: 22px 22px 0 0; }
}

"""#))

    private static let _css_test_css = EmbeddedFile(path: "css/test.css", content: .text(#"""
/* The test page: controls on the left, every packet on the right. */

body { display: flex; flex-direction: column; min-height: 100dvh; }
code, .log li, dd { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; }
.head { display: flex; align-items: center; gap: 14px; padding: 16px 24px; background: var(--surface); border-bottom: 1px solid var(--line); }
.head h1 { font-size: 20px; letter-spacing: -0.01em; }
.head div { flex: 1; min-width: 0; }
.head p { color: var(--muted); font-size: 14px; }
a { color: var(--accent); }
.head .state { padding: 6px 14px; border-radius: 99px; background: var(--field); font-weight: 600; }
.state[data-state="open"] { background: color-mix(in srgb, var(--online) 16%, transparent); color: var(--online); }
.state[data-state="connecting"], .state[data-state="waiting"] { background: var(--warning-soft); color: var(--warning); }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: 360px minmax(0, 1fr); gap: 18px; padding: 18px 24px 24px; width: 100%; max-width: 1400px; margin: 0 auto; }
.card { box-shadow: var(--shadow); }
.controls { padding: 18px; display: flex; flex-direction: column; gap: 12px; align-self: start; }
h2 { font-size: 15px; }
.controls h2:not(:first-child) { margin-top: 10px; }
.segments { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: 4px; margin: 0; padding: 4px; border: 0; border-radius: 12px; background: var(--field); }
.segments legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.segments input { position: absolute; width: 1px; height: 1px; padding: 0; opacity: 0; }
.segments span { display: block; padding: 7px; border-radius: 9px; text-align: center; font-size: 14px; font-weight: 600; color: var(--muted); cursor: pointer; }
.segments :checked + span { background: var(--raised); color: var(--text); box-shadow: var(--shadow); }
.segments :focus-visible + span { outline: 2px solid var(--accent); }
.segments :disabled + span { cursor: default; opacity: 0.7; }
.buttons { display: grid; gap: 8px; }
.two { grid-template-columns: 1fr 1fr; }
.buttons .wide { grid-column: 1 / -1; }
.plain { padding: 10px 12px; border-radius: 12px; border: 1px solid var(--line); background: var(--raised); font-weight: 600; }
.plain:hover:not(:disabled) { background: var(--hover); }
.plain:disabled { opacity: 0.45; }
.facts { margin: 0; display: grid; gap: 4px; }
.facts div { display: flex; justify-content: space-between; gap: 12px; }
dt { color: var(--muted); font-size: 13px; }
dd { margin: 0; overflow: hidden; text-overflow: ellipsis; }
.field { display: grid; gap: 5px; font-size: 13px; font-weight: 600; color: var(--muted); }
.field input { font-weight: 400; color: var(--text); font-size: 15px; }
.result { padding: 10px 14px; border-radius: 12px; background: var(--field); font-size: 14px; overflow-wrap: anywhere; white-space: pre-line; }
.result:empty { display: none; }
.result[data-ok="true"] { background: color-mix(in srgb, var(--online) 14%, transparent); color: var(--online); }
.result[data-ok="false"] { background: var(--danger-soft); color: var(--danger); }
.log { display: flex; flex-direction: column; min-height: 0; height: calc(100dvh - 118px); overflow: hidden; }
.log header { display: flex; align-items: center; gap: 16px; padding: 14px 18px; border-bottom: 1px solid var(--line); font-size: 14px; }
.log header h2 { flex: 1; }
.check { display: inline-flex; align-items: center; gap: 6px; color: var(--muted); }
.check input:not([type="file"]) { width: 16px; height: 16px; padding: 0; accent-color: var(--accent); }
.log ol { flex: 1; overflow-y: auto; list-style: none; margin: 0; padding: 8px 0; outline-offset: -2px; scrollbar-width: thin; }
.log li { display: grid; grid-template-columns: 98px 18px 82px 128px minmax(0, 1fr); gap: 8px; padding: 3px 18px; align-items: baseline; }
.log li:hover { background: var(--hover); }
.log time, .log .via { color: var(--muted); }
.log .arrow { font-weight: 700; }
.log .in .arrow { color: var(--online); }
.log .out .arrow { color: var(--accent); }
.log .what { font-weight: 600; }
.log .data { overflow-wrap: anywhere; white-space: pre-wrap; }
.log .note { color: var(--muted); font-style: italic; }
.log ol:not(.with-heartbeats) .heartbeat { display: none; }
@media (max-width: 859px) {
  main { grid-template-columns: minmax(0, 1fr); padding: 12px; }
  .head { flex-wrap: wrap; padding: 14px 16px; }
  .log { height: 70dvh; }
  .log li { grid-template-columns: auto 14px 1fr; }
  .log .via, .log time { font-size: 11px; }
  .log .via { display: none; }
  .log .data { grid-column: 1 / -1; }
}

"""#))

    private static let _img_favicon_svg = EmbeddedFile(path: "img/favicon.svg", content: .text(#"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="1" y2="1">
      <stop offset="0" stop-color="#4f7cff"/>
      <stop offset="1" stop-color="#7a4dff"/>
    </linearGradient>
  </defs>
  <rect width="64" height="64" rx="16" fill="url(#sky)"/>
  <path fill="#fff" transform="translate(32 32) scale(.76) rotate(32) translate(-32 -33)" d="M32 14C33.6 14 34.8 15.6 35.2 18.2C45 18.6 55 26 61 41C53 33 45 29.6 36 29.5C35.6 34 34.8 38.5 34 42.5L38.5 55L32 48L25.5 55L30 42.5C29.2 38.5 28.4 34 28 29.5C19 29.6 11 33 3 41C9 26 19 18.6 28.8 18.2C29.2 15.6 30.4 14 32 14Z"/>
</svg>

"""#))

    private static let _index_html = EmbeddedFile(path: "index.html", content: .text(#"""
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
  <meta name="color-scheme" content="light dark">
  <meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
  <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#14161f">
  <meta name="referrer" content="no-referrer">
  <meta name="description" content="Apus: a chat whose messages stay up in the air until they arrive.">
  <title>Apus</title>
  <link rel="icon" href="img/favicon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="css/base.css">
  <link rel="stylesheet" href="css/chat.css">
  <script type="module" src="js/main.js"></script>
</head>
<body>
  <div id="app"></div>
  <noscript>Apus needs JavaScript.</noscript>
</body>
</html>

"""#))

    private static let _js_chat_api_js = EmbeddedFile(path: "js/chat/api.js", content: .text(#"""
// The HTTP API of the chat: accounts and blobs.

/**
 * An error of the chat server, over HTTP or in an ack: `code` is for programs, `message` for users.
 */
export class ChatError extends Error {
  constructor(code, message) {
    super(message || code);
    this.name = "ChatError";
    this.code = code;
  }
}

export const register = (name, password, display) => post("/api/register", { name, password, ...(display ? { display } : {}) });
export const login = (name, password) => post("/api/login", { name, password, device: deviceName() });

export async function logout(token) {
  await request("/api/logout", { method: "POST", headers: bearer(token) });
}

/** Uploads bytes. The same bytes yield the same blob. */
export async function uploadBlob(token, file) {
  const response = await request("/api/blobs", {
    method: "POST", body: file, headers: { ...bearer(token), "Content-Type": file.type || "application/octet-stream" },
  });
  return response.json();
}

/**
 * Fetches a blob. The request needs a header, so the page uses an object URL instead of an <img>
 * source.
 */
export async function downloadBlob(token, sha256) {
  const response = await request(`/api/blobs/${encodeURIComponent(sha256)}`, { headers: bearer(token) });
  return response.blob();
}

/** Error codes for answers without a chat error. */
const CODES = { 401: "unauthorized", 408: "network", 413: "too_large", 425: "network", 429: "too_many", 502: "network", 503: "network", 504: "network" };

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

async function post(path, body) {
  const response = await request(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  return response.json();
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...options });
  } catch {
    throw new ChatError("network", "The server cannot be reached.");
  }
  if (response.ok) return response;
  let error = null;
  try {
    ({ error } = await response.json());
  } catch { /* not an answer of the chat server, for example a proxy's page */ }
  const code = error?.code ?? CODES[response.status] ?? (response.status < 500 ? "bad_request" : "internal");
  throw new ChatError(code, error?.message ?? `HTTP ${response.status}`);
}

/** The label of this device: the browser and the system. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = ["Edg", "Firefox", "Chrome", "Safari"].find((name) => agent.includes(name)) ?? "Browser";
  const system = ["iPhone", "iPad", "Android", "Windows", "Mac OS", "Linux"].find((name) => agent.includes(name)) ?? "";
  return `${browser === "Edg" ? "Edge" : browser}${system ? ` (${system})` : ""}`;
}

"""#))

    private static let _js_chat_client_js = EmbeddedFile(path: "js/chat/client.js", content: .text(#"""
// The chat client of one account: connection, conversations, users, outbox. Independent of the
// page.
//
// Events: "connection" (state), "conversations", "conversation" (id), "event" (event, conversation:
// a new message of another user), "people", "ended" (reason: the session has ended, sign in again).

import { Emitter, SocketManager } from "../socketio/index.js";
import { ChatError } from "./api.js";
import { isSame } from "./conflict.js";
import { Conversation } from "./conversation.js";
import { ReadMarks } from "./marks.js";
import { Outbox, makeClientID } from "./outbox.js";
import { Sender } from "./sender.js";
import { limited, onceAtATime } from "./tasks.js";
import { wellFormed } from "./text.js";

const OVERLAP = 10_000; // ms of the server's clock, subtracted at a sync (docs/chat-rules.md, 5)
const GAP_DELAY = 500; // ms before missing events are pulled (docs/chat-rules.md, 2)
const PAGE = 60;
const PULL = 200;
const PULLS = 4; // at the same time: the server answers them one after the other, and limits pending requests

export class ChatClient extends Emitter {
  #manager; #socket; #sender; #marks;
  #syncedAt = 0; // the server's time of the last list of heads
  #gapTimers = new Map();
  #ended = false;
  #closeReason = null; // of the server's `bye`
  #ready = false; // hello and sync are complete
  #pulls = limited(PULLS);

  static async open(session) {
    return new ChatClient(session, await Outbox.open(session.user.id));
  }

  constructor(session, outbox) {
    super();
    this.token = session.token;
    this.user = session.user;
    this.outbox = outbox;
    this.people = new Map([[session.user.id, session.user]]);
    this.conversations = new Map();
    this.loaded = false; // the first list of conversations is complete
    this.#sender = new Sender(this);
    this.#marks = new ReadMarks(this);
    this.#manager = new SocketManager(location.origin);
    this.#socket = this.#manager.socket("/chat", { auth: () => ({ token: this.token }) });
    this.#listen();
  }

  /** "online", "connecting", "waiting" (with retryAt) or "closed". */
  get connection() {
    if (this.#ready) return { name: "online" };
    const { name, retryAt } = this.#manager.state;
    return name === "waiting" ? { name, retryAt } : { name: name === "closed" && !this.#socket.wanted ? "closed" : "connecting" };
  }

  get connected() { return this.#ready && !this.#ended; }

  start() { this.#socket.connect(); }

  /** Disconnects. The outbox remains. */
  stop() {
    this.#ended = true;
    for (const timer of this.#gapTimers.values()) clearTimeout(timer);
    this.#socket.disconnect();
  }

  retryNow() {
    if (this.#socket.wanted) this.#manager.retryNow();
    else this.#socket.connect();
  }

  /** A user. All users are shown as offline without a connection. */
  person(id) {
    const person = this.people.get(id) ?? { id, name: "…", display: "…", online: false };
    return this.#ready ? person : { ...person, online: false };
  }

  /** The conversations, newest first; messages in the outbox count. */
  sortedConversations() {
    const waiting = new Map(this.outbox.entries.map((entry) => [entry.conv, entry.at]));
    const time = (conversation) => Math.max(conversation.updatedAt, waiting.get(conversation.id) ?? 0);
    return [...this.conversations.values()].sort((a, b) => time(b) - time(a));
  }

  get unread() { return [...this.conversations.values()].reduce((sum, conversation) => sum + conversation.unread, 0); }

  // --- actions of the user ---

  /** Stores a message in the outbox, shows it, and sends it as soon as possible. */
  async write(conv, { text, file, dimensions }) {
    const entry = { id: makeClientID(), conv, at: Date.now(), after: this.conversations.get(conv)?.log.high ?? 0 };
    if (file) Object.assign(entry, { kind: "image", file, dimensions, body: text ? { text } : {} });
    else Object.assign(entry, { kind: "text", body: { text } });
    await this.outbox.add(entry);
    this.#changed(conv);
    this.#sender.flush();
  }

  async retry(id) {
    const entry = this.outbox.find(id);
    if (!entry) return;
    entry.isDoubted = entry.error?.code === "conflict";
    entry.state = "waiting";
    delete entry.error;
    await this.outbox.update(entry);
    this.#changed(entry.conv);
    this.#sender.flush();
  }

  async discard(id) {
    const entry = this.outbox.find(id);
    if (!entry) return;
    await this.outbox.remove(id);
    this.#changed(entry.conv);
  }

  async openPair(user) {
    return this.#headAnswered(await this.request("open", { with: user }));
  }

  async createGroup(title, members) {
    return this.#headAnswered(await this.request("create", { title: wellFormed(title), members }));
  }

  /**
   * One page of a user search: {users, next}. `next` requests the next page; null on the last one.
   */
  async findPeople(query, after = null) {
    const { users, next = null } = await this.request("users", { ...(query ? { query: wellFormed(query) } : {}), ...(after ? { after } : {}) });
    this.#learn(users);
    return { users: users.filter((user) => user.id !== this.user.id), next };
  }

  /**
   * Loads earlier history; on first opening, the newest page. Resolves to whether events were
   * added.
   */
  async loadOlder(id, limit = PAGE) {
    const conversation = this.conversations.get(id);
    if (!conversation) return false;
    if (conversation.loading) return conversation.loading;
    conversation.opened = true;
    if (!conversation.canLoadOlder || !this.connected) return false;
    conversation.loading = this.#loadOlder(conversation, limit).finally(() => {
      conversation.loading = null;
      this.#changed(id);
    });
    this.#changed(id);
    return conversation.loading;
  }

  async #loadOlder({ id, log }, limit) {
    const before = log.low;
    const { events } = await this.request("sync", { conv: id, before, limit });
    log.prepend(events);
    events.forEach((event) => this.#dropDelivered(event));
    return log.low < before;
  }

  /**
   * Marks the messages up to n as read: on the page at once, on the server until it confirms
   * (docs/chat-rules.md, 10).
   */
  markRead(id, n) {
    const conversation = this.conversations.get(id);
    if (!conversation || n <= conversation.read) return;
    conversation.readUpTo(n);
    this.#changed(id);
    this.#marks.tell(conversation);
  }

  // --- for Sender ---

  /** Sends a request and returns its answer. Throws an error of the server. */
  async request(name, payload, timeout = 15_000) {
    const [answer] = await this.#socket.emitWithAck(name, [payload], { timeout });
    if (answer?.error) throw new ChatError(answer.error.code, answer.error.message);
    return answer ?? {};
  }

  /** Sends a request whose answer has pages. Calls `take` with each; returns the last one. */
  async #pages(name, payload, take) {
    for (let page = null; ;) {
      const answer = await this.request(name, page === null ? payload : { ...payload, page });
      take(answer);
      if (answer.page == null || answer.page === page) return answer;
      page = answer.page;
    }
  }

  async acknowledged(entry, { seq, n, at }) {
    const conversation = this.conversations.get(entry.conv);
    const { conv, id, kind, body, ref } = entry;
    conversation?.applyEvent({ conv, seq, n, sender: this.user.id, id, at, kind, body, ...(ref ? { ref } : {}) });
    this.#watchGap(conversation);
    await this.outbox.remove(id);
    this.#changed(conv);
  }

  /** The log already contains the message. */
  async delivered(entry) {
    await this.outbox.remove(entry.id);
    this.#changed(entry.conv);
  }

  outboxChanged(conv) { this.#changed(conv); }

  expired() { this.#end("expired"); }

  // --- the connection ---

  #listen() {
    const socket = this.#socket;
    this.#manager.on("state", () => this.fire("connection", this.connection));
    socket.on("connect", () => this.#catchUp().catch((error) => this.#catchUpFailed(error)));
    socket.on("disconnect", (reason) => {
      this.#ready = false;
      this.fire("connection", this.connection);
      if (reason !== "io server disconnect" || this.#ended) return;
      if (this.#closeReason === "logged_out" || this.#closeReason === "expired") return this.#end(this.#closeReason);
      // The server shut down or closed the namespace. The client reconnects later.
      setTimeout(() => !this.#ended && socket.connect(), 1000 + Math.random() * 2000);
    });
    socket.on("connect_error", (error) => {
      if (error.data?.code === "unauthorized" || error.message === "unauthorized") return this.#end("expired");
      if (!socket.wanted && !this.#ended) setTimeout(() => !this.#ended && socket.connect(), 3000);
    });
    socket.on("event", (event) => this.#eventPushed(event));
    socket.on("head", (head) => this.#headPushed(head));
    socket.on("mark", ({ conv, user, read }) => {
      this.conversations.get(conv)?.applyMark(user, read);
      this.#changed(conv);
    });
    socket.on("presence", ({ user, online, at }) => {
      const person = this.people.get(user);
      if (!person) return;
      this.people.set(user, { ...person, online, seen: at });
      this.fire("people");
    });
    socket.on("bye", (bye) => { this.#closeReason = bye?.reason ?? null; });
  }

  #end(reason) {
    if (this.#ended) return;
    this.stop();
    this.fire("ended", reason);
  }

  /**
   * After each connection: requests users and changed heads, then starts the outbox
   * (docs/chat-rules.md, 5).
   */
  async #catchUp() {
    this.#closeReason = null;
    const connection = this.#socket.id;
    await this.#pages("hello", {}, ({ user, users }) => {
      this.user = user;
      this.#learn([user, ...users]);
    });
    const since = this.#syncedAt ? { since: Math.max(0, this.#syncedAt - OVERLAP) } : {};
    const { at } = await this.#pages("sync", since, ({ heads }) => heads.forEach((head) => this.#applyHead(head)));
    this.#syncedAt = at;
    await this.outbox.reload();
    for (const conversation of this.conversations.values()) conversation.log.events.forEach((event) => this.#dropDelivered(event));
    if (this.#socket.id !== connection) return; // disconnected in the meantime; the next connection repeats this
    this.loaded = true;
    this.#ready = true;
    this.fire("connection", this.connection);
    this.fire("people");
    this.#changed();
    this.#sender.flush();
    this.#marks.flush();
  }

  #catchUpFailed(error) {
    if (error instanceof ChatError && error.code === "unauthorized") return this.#end("expired");
    console.warn("Sync failed; trying again", error);
    if (this.#socket.connected) setTimeout(() => this.#socket.connected && this.#catchUp().catch((again) => this.#catchUpFailed(again)), 2000);
  }

  #learn(users) {
    for (const user of users) this.people.set(user.id, { ...this.people.get(user.id), ...user });
  }

  #requestUsers = onceAtATime(async () => {
    await this.#pages("hello", {}, ({ users }) => this.#learn(users));
    this.fire("people");
    this.#changed();
  });

  // --- the log ---

  #headAnswered({ head }) {
    this.#applyHead(head);
    this.#changed();
    return head.conv;
  }

  #headPushed(head) {
    this.#applyHead(head);
    this.#changed();
  }

  #applyHead(head) {
    const known = this.conversations.get(head.conv);
    if (!known) this.conversations.set(head.conv, new Conversation(head, this.user.id));
    else if (known.applyHead(head) === "gap") this.#pull(known);
    else if (known.opened && known.log.events.length <= 1) setTimeout(() => this.loadOlder(head.conv).catch(() => {}));
    if (this.#ready && head.members.some((member) => !this.people.has(member.user))) this.#requestUsers();
  }

  #eventPushed(event) {
    const conversation = this.conversations.get(event.conv);
    if (!conversation) {
      // The head has not arrived yet, or was lost.
      if (this.#ready) this.#refreshHeads();
      return;
    }
    const applied = conversation.applyEvent(event);
    for (const each of applied) {
      if (each.sender === this.user.id) this.#dropDelivered(each); // the ack was lost or is late
      else if (each.n != null && each.sender !== this.user.id) this.fire("event", each, conversation);
    }
    this.#watchGap(conversation);
    this.#changed(event.conv);
  }

  #refreshHeads = onceAtATime(async () => {
    const since = Math.max(0, this.#syncedAt - OVERLAP);
    await this.#pages("sync", { since }, ({ heads }) => heads.forEach((head) => this.#applyHead(head)));
    this.#changed();
  });

  /**
   * Pulls missing events after a delay, because pushes can arrive in reverse order
   * (docs/chat-rules.md, 2).
   */
  #watchGap(conversation) {
    if (!conversation?.log.hasGap || this.#gapTimers.has(conversation.id)) return;
    this.#gapTimers.set(conversation.id, setTimeout(() => {
      this.#gapTimers.delete(conversation.id);
      if (conversation.log.hasGap && this.connected) this.#pull(conversation);
    }, GAP_DELAY));
  }

  #pull(conversation) {
    if (conversation.pulling) return;
    conversation.pulling = true;
    this.#pulls(() => this.#pullNow(conversation));
  }

  async #pullNow(conversation) {
    try {
      while (this.#socket.connected) {
        const { events, head } = await this.request("sync", { conv: conversation.id, from: conversation.log.high + 1, limit: PULL });
        for (const event of events) {
          for (const each of conversation.applyEvent(event)) this.#dropDelivered(each);
        }
        conversation.applyHead(head);
        if (conversation.log.high >= head.seq || events.length === 0) break;
      }
    } catch (error) {
      if (this.connected) console.warn("Pull failed; the next event or connection repeats it", error);
    } finally {
      conversation.pulling = false;
      this.#changed(conversation.id);
    }
  }

  /** Removes a message from the outbox whose event is in the log. */
  #dropDelivered(event) {
    const entry = event.sender === this.user.id && this.outbox.find(event.id);
    if (entry && isSame(entry, event)) this.outbox.remove(entry.id);
  }

  // Changes of one turn are reported once.
  #dirty = null;
  #changed(id) {
    if (this.#dirty) {
      if (id) this.#dirty.add(id);
      return;
    }
    this.#dirty = new Set(id ? [id] : []);
    queueMicrotask(() => {
      const ids = this.#dirty;
      this.#dirty = null;
      this.fire("conversations");
      for (const each of ids) this.fire("conversation", each);
      if (ids.size === 0) for (const each of this.conversations.keys()) this.fire("conversation", each);
    });
  }
}

"""#))

    private static let _js_chat_conflict_js = EmbeddedFile(path: "js/chat/conflict.js", content: .text(#"""
// Resolves a conflict: the server has an event with the id of a message but different content.

const PULL = 200;

/**
 * Whether an own event is the message of an outbox entry with the same id. Another page may have
 * uploaded its picture.
 */
export function isSame({ kind, body }, event) {
  return event.kind === kind && event.body?.text === body.text && (!body.blob || event.body?.blob === body.blob);
}

/**
 * Whether the server has this message. Searches the events since the message was written, because
 * no earlier event can have its id. `request(payload)` sends a `sync`.
 */
export async function isStored(entry, me, request) {
  let from = (entry.after ?? 0) + 1;
  for (;;) {
    const { events, head } = await request({ conv: entry.conv, from, limit: PULL });
    const found = events.find((event) => event.sender === me && event.id === entry.id);
    if (found) return isSame(entry, found);
    if (events.length === 0 || events.at(-1).seq >= head.seq) return false;
    from = events.at(-1).seq + 1;
  }
}

/**
 * The next id for a message whose id is already used. The same on every page that has the message.
 */
export function renewedID(id) {
  const [, first, count] = /^(.*?)(?:-(\d+))?$/s.exec(id);
  return `${first}-${Number(count ?? 1) + 1}`;
}

"""#))

    private static let _js_chat_conversation_js = EmbeddedFile(path: "js/chat/conversation.js", content: .text(#"""
// A conversation: head, log and read position.

import { ConversationLog, FAR_BEHIND } from "./log.js";

export class Conversation {
  #floor = 0; // max(read, floor): unread = n − this (docs/chat-rules.md, 3)
  #seen = new Set(); // ordinals above #floor that were on the screen, with unseen ones below

  constructor(head, me) {
    this.id = head.conv;
    this.me = me;
    this.log = new ConversationLog(head);
    this.loading = null; // the pending request for older events
    this.opened = false; // the history was shown
    this.toldRead = 0; // the read position that the server has confirmed
    this.applyHead(head);
  }

  get unread() { return Math.max(0, this.n - this.#floor); }
  get read() { return this.#floor; }
  /** Whether the first unread message is in the log. */
  get holdsUnread() { return (this.log.events.find((event) => event.n != null)?.n ?? Infinity) <= this.#floor + 1; }
  get isPair() { return this.kind === "pair"; }
  get partner() { return this.members.find((member) => member.user !== this.me)?.user ?? this.me; }
  get canLoadOlder() { return this.log.low > Math.max(1, this.minSeq); }
  get last() { return this.log.newest ?? this.#lastOfHead; }
  get updatedAt() { return Math.max(this.#updatedAt, this.log.newest?.at ?? 0); }
  #lastOfHead = null;
  #updatedAt = 0;

  /**
   * Applies a head. Returns what the log lacks: "nothing", "gap" (to pull) or "window" (the log was
   * reset).
   */
  applyHead(head) {
    this.kind = head.kind;
    this.title = head.title ?? null;
    this.members = head.members.map((member) => ({ ...member }));
    this.minSeq = head.min_seq ?? 1;
    this.n = Math.max(this.n ?? 0, head.n);
    this.confirmRead(Math.max(head.read, head.n - head.unread));
    this.#lastOfHead = head.last ?? null;
    this.#updatedAt = head.updated_at;
    const missing = head.seq - this.log.high;
    if (missing <= 0) return "nothing";
    if (!this.opened || missing > FAR_BEHIND) {
      this.log.reset(head);
      return "window";
    }
    return "gap";
  }

  /** Applies an event. Returns the events that became visible. */
  applyEvent(event) {
    const applied = this.log.add(event);
    for (const next of applied) {
      if (next.n == null) continue;
      this.n = Math.max(this.n, next.n);
      if (next.sender === this.me) this.confirmRead(next.n); // the server does the same (docs/chat-rules.md, 3)
      const sender = this.members.find((member) => member.user === next.sender);
      if (sender) sender.read = Math.max(sender.read, next.n);
    }
    return applied;
  }

  /** Applies a read position, which only increases. */
  applyMark(user, read) {
    if (user === this.me) this.confirmRead(read);
    const member = this.members.find((each) => each.user === user);
    if (member) member.read = Math.max(member.read, read);
  }

  /**
   * Records the ordinals that were on the screen. Returns the new read position: the last ordinal
   * without unseen ones before it.
   */
  see(ordinals) {
    for (const n of ordinals) if (n > this.#floor && n <= this.n) this.#seen.add(n);
    let read = this.#floor;
    while (this.#seen.has(read + 1)) read += 1;
    return read;
  }

  /**
   * The number of messages after `from`, up to `to`, that are unread and were not on the screen.
   */
  unseen(from, to) {
    const first = Math.max(from, this.#floor);
    const seen = [...this.#seen].filter((n) => n > first && n <= to).length;
    return Math.max(0, to - first - seen);
  }

  hasSeen(n) { return n <= this.#floor || this.#seen.has(n); }

  /** Sets the read position locally. */
  readUpTo(n) {
    this.#floor = Math.max(this.#floor, Math.min(n, this.n));
    for (const seen of this.#seen) if (seen <= this.#floor) this.#seen.delete(seen);
  }

  /** Sets a read position that the server has confirmed. */
  confirmRead(n) {
    this.toldRead = Math.max(this.toldRead, n);
    this.readUpTo(n);
  }

  /** Whether another member has read the message with ordinal n. */
  isReadByOthers(n) {
    return this.members.some((member) => member.user !== this.me && member.read >= n);
  }
}

"""#))

    private static let _js_chat_log_js = EmbeddedFile(path: "js/chat/log.js", content: .text(#"""
// Part of a conversation's log: a run of events without holes, low … high. No clock, no network.
//
// Implements docs/chat-rules.md, 2: seq = high + 1 is applied, lower numbers are ignored, and
// higher ones wait in `early` until the missing events are pulled.

/** With more missing events than this, the log is reset to the newest event. */
export const FAR_BEHIND = 400;
const MAXIMUM_EARLY = 500;

export class ConversationLog {
  events = []; // ascending, seq = low … high
  high = 0; // the cursor
  resets = 0; // the number of resets
  #early = new Map(); // seq → event, behind the hole

  /** Starts at the newest event. Older events are loaded on demand. */
  constructor(head) {
    this.reset(head);
  }

  get low() { return this.high - this.events.length + 1; }
  get hasGap() { return this.#early.size > 0; }
  get newest() { return this.events.at(-1) ?? null; }

  /**
   * Starts again at the newest event. Older events are requested again on demand, so no gap
   * remains.
   */
  reset(head) {
    this.resets += 1;
    this.high = head.seq;
    this.events = head.last && head.last.seq === head.seq ? [head.last] : [];
    for (const seq of this.#early.keys()) if (seq <= this.high) this.#early.delete(seq);
    const next = this.#early.get(this.high + 1);
    if (next) this.add(next);
  }

  /** Adds an event. Returns the events that became visible, in order. */
  add(event) {
    if (event.seq <= this.high) return [];
    if (event.seq > this.high + 1) {
      if (this.#early.size < MAXIMUM_EARLY) this.#early.set(event.seq, event);
      return [];
    }
    const applied = [];
    for (let next = event; next; next = this.#early.get(this.high + 1)) {
      this.#early.delete(next.seq);
      this.events.push(next);
      this.high = next.seq;
      applied.push(next);
    }
    return applied;
  }

  /** Adds earlier events. Ignores events that do not adjoin the log. */
  prepend(older) {
    for (const event of [...older].sort((a, b) => b.seq - a.seq)) {
      if (event.seq === this.low - 1) this.events.unshift(event);
    }
  }
}

"""#))

    private static let _js_chat_marks_js = EmbeddedFile(path: "js/chat/marks.js", content: .text(#"""
// Sends read positions until the server has confirmed them (docs/chat-rules.md, 10). Each
// conversation has one pending request at a time; the next one carries the newest position.

import { ChatError } from "./api.js";
import { Backoff } from "../socketio/backoff.js";
import { pause } from "./tasks.js";

/** Errors after which a retry cannot succeed. */
const FINAL = new Set(["bad_request", "forbidden", "not_found"]);

export class ReadMarks {
  #chat; #wait;
  #running = new Set(); // conversations with a pending request

  /** `chat`: {connected, conversations, request(event, payload)}. */
  constructor(chat, { wait = pause } = {}) {
    this.#chat = chat;
    this.#wait = wait;
  }

  /** Starts with all conversations that have an unconfirmed position. */
  flush() {
    for (const conversation of this.#chat.conversations.values()) this.tell(conversation);
  }

  async tell(conversation) {
    if (this.#running.has(conversation.id)) return;
    this.#running.add(conversation.id);
    const backoff = new Backoff();
    try {
      while (this.#chat.connected && conversation.read > conversation.toldRead) {
        const read = conversation.read;
        try {
          await this.#chat.request("mark", { conv: conversation.id, read });
          conversation.confirmRead(read);
        } catch (error) {
          if (error instanceof ChatError && FINAL.has(error.code)) conversation.confirmRead(read);
          else await this.#wait(backoff.next());
        }
      }
    } finally {
      this.#running.delete(conversation.id);
    }
  }
}

"""#))

    private static let _js_chat_outbox_js = EmbeddedFile(path: "js/chat/outbox.js", content: .text(#"""
// The messages without an acknowledgement, in IndexedDB, with one queue for each account. An entry
// is removed when the server has the message or the user discards it. Every retry carries the same
// client id, so that a lost ack does not cause a duplicate (docs/chat-rules.md, 1).

import { wellFormed } from "./text.js";

const DATABASE = "apus";
const STORE = "outbox";

export class Outbox {
  #entries = []; // of this account, in the order of writing
  #database = null; // null without IndexedDB (some private windows); the queue is then kept in memory

  static async open(account) {
    const outbox = new Outbox();
    outbox.account = account;
    try {
      outbox.#database = await openDatabase();
      await outbox.reload();
    } catch (error) {
      console.warn("No IndexedDB: unsent messages do not survive a reload", error);
    }
    return outbox;
  }

  get entries() { return this.#entries; }
  of(conversation) { return this.#entries.filter((entry) => entry.conv === conversation); }
  find(id) { return this.#entries.find((entry) => entry.id === id); }

  /** Reads the queue from the database. Keeps the objects of known entries. */
  async reload() {
    if (!this.#database) return;
    const index = this.#database.transaction(STORE).objectStore(STORE).index("account");
    const stored = await settled(index.getAll(this.account));
    const known = new Map(this.#entries.map((entry) => [entry.id, entry]));
    this.#entries = stored.map((entry) => known.get(entry.id) ?? storable(entry)).sort((a, b) => a.at - b.at || a.order - b.order);
  }

  /** Stores an entry. It survives a reload after this resolves. */
  async add(entry) {
    const order = Math.max(-1, ...this.#entries.map((each) => each.order)) + 1;
    const whole = storable({ ...entry, account: this.account, order, state: "waiting" });
    this.#entries.push(whole);
    await this.#write((store) => store.put(whole));
    return whole;
  }

  async update(entry) {
    if (this.find(entry.id)) await this.#write((store) => store.put(entry));
  }

  /** Changes the id of an entry. Its position in the queue does not change. */
  async renew(entry, id) {
    const { error, isDoubted, ...rest } = entry;
    const renewed = { ...rest, id, state: "waiting" };
    this.#entries = this.#entries.map((each) => (each === entry ? renewed : each));
    await this.#write((store) => {
      store.delete(entry.id);
      store.put(renewed);
    });
    return renewed;
  }

  async remove(id) {
    const before = this.#entries.length;
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    if (this.#entries.length !== before) await this.#write((store) => store.delete(id));
  }

  async #write(change) {
    if (!this.#database) return;
    const transaction = this.#database.transaction(STORE, "readwrite", { durability: "strict" });
    change(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    }).catch((error) => console.warn("The outbox could not be written", error));
  }
}

/** An entry whose text has no lone surrogates. */
function storable(entry) {
  return typeof entry.body?.text === "string" ? { ...entry, body: { ...entry.body, text: wellFormed(entry.body.text) } } : entry;
}

async function openDatabase() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("account", "account");
  };
  return settled(request);
}

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * A client id: 128 random bits. (crypto.randomUUID requires a secure context, which http on a LAN
 * is not.)
 */
export function makeClientID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

"""#))

    private static let _js_chat_sender_js = EmbeddedFile(path: "js/chat/sender.js", content: .text(#"""
// Sends the messages of the outbox, one of each conversation at a time, in the order of writing
// (docs/chat-rules.md, 1).

import { ChatError, uploadBlob } from "./api.js";
import { Backoff } from "../socketio/backoff.js";
import { isStored, renewedID } from "./conflict.js";
import { pause } from "./tasks.js";

/**
 * Temporary errors. After any other one, unknown codes included, the message fails and the next one
 * is sent.
 */
const PASSING = new Set(["network", "storage", "too_many"]);
/** The maximum number of retries after an internal error of the server. */
const MOST_DEFECTS = 5;
const ACK_TIMEOUT = 20_000;

export class Sender {
  #chat; #wait;
  #running = new Set(); // conversations with a running loop

  /**
   * `chat`: {token, user, outbox, connected, request(event, payload, timeout),
   * acknowledged(entry, ack), delivered(entry), outboxChanged(conv), expired()}.
   */
  constructor(chat, { wait = pause } = {}) {
    this.#chat = chat;
    this.#wait = wait;
  }

  /** Starts sending in every conversation with queued messages. */
  flush() {
    for (const entry of this.#chat.outbox.entries) if (entry.state !== "failed") this.#run(entry.conv);
  }

  async #run(conversation) {
    if (this.#running.has(conversation)) return;
    this.#running.add(conversation);
    const backoff = new Backoff();
    let defects = 0;
    try {
      while (this.#chat.connected) {
        const entry = this.#chat.outbox.of(conversation).find((each) => each.state !== "failed");
        if (!entry) return;
        try {
          await this.#send(entry);
          backoff.reset();
          defects = 0;
        } catch (error) {
          if (error instanceof ChatError && error.code === "unauthorized") return this.#chat.expired();
          if (error instanceof ChatError && error.code === "internal") defects += 1;
          if (error instanceof ChatError && !PASSING.has(error.code) && (error.code !== "internal" || defects >= MOST_DEFECTS)) {
            defects = 0;
            entry.state = "failed";
            entry.error = { code: error.code, message: error.message };
            await this.#chat.outbox.update(entry);
            this.#chat.outboxChanged(conversation);
          } else {
            // The server may have the message. A retry with the same id is safe.
            await this.#wait(backoff.next());
          }
        }
      }
    } finally {
      this.#running.delete(conversation);
    }
  }

  async #send(entry) {
    if (entry.isDoubted) {
      // The server has other content under this id. A new id is safe if the log does not contain
      // the message.
      const { user, outbox } = this.#chat;
      if (await isStored(entry, user.id, (payload) => this.#chat.request("sync", payload))) return this.#chat.delivered(entry);
      entry = await outbox.renew(entry, renewedID(entry.id));
    }
    if (entry.file && !entry.body.blob) {
      const { blob, width, height, size, type } = await uploadBlob(this.#chat.token, entry.file);
      entry.body = { ...entry.body, blob, width, height, size, type };
      await this.#chat.outbox.update(entry); // a retry sends the same payload
    }
    const { conv, id, kind, body, ref } = entry;
    const ack = await this.#chat.request("send", { conv, id, kind, body, ...(ref ? { ref } : {}) }, ACK_TIMEOUT);
    await this.#chat.acknowledged(entry, ack);
  }
}

"""#))

    private static let _js_chat_session_js = EmbeddedFile(path: "js/chat/session.js", content: .text(#"""
// The session of this browser. The token is stored in localStorage and sent in headers and CONNECT
// auth, never in a URL.

const KEY = "apus.session";

/** {token, device, expires, user} or null. */
export function loadSession() {
  try {
    const session = JSON.parse(localStorage.getItem(KEY));
    return typeof session?.token === "string" && typeof session.user?.id === "string" ? session : null;
  } catch {
    return null;
  }
}

export function saveSession(session) {
  try {
    localStorage.setItem(KEY, JSON.stringify(session));
  } catch { /* no storage: the session lasts as long as the page */ }
}

/** Removes the session, unless another tab has stored a new one. */
export function clearSession(token) {
  if (!token || loadSession()?.token === token) localStorage.removeItem(KEY);
}

/** Calls the listener after a sign-in or sign-out in another tab. */
export function onSessionChange(listener) {
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) listener(loadSession());
  });
}

"""#))

    private static let _js_chat_tasks_js = EmbeddedFile(path: "js/chat/tasks.js", content: .text(#"""
/**
 * Wraps an async function so that it does not run twice at a time. Logs failures, which are retried
 * by later calls.
 */
export function onceAtATime(work) {
  let running = null;
  return () => {
    running ??= work().catch((error) => console.warn(error)).finally(() => { running = null; });
    return running;
  };
}

/**
 * Returns a function that runs async work, at most `limit` at a time, in order. Ignores rejections.
 */
export function limited(limit) {
  let running = 0;
  const waiting = [];
  const next = () => {
    while (running < limit && waiting.length > 0) {
      running += 1;
      Promise.resolve().then(waiting.shift()).catch(() => {}).finally(() => { running -= 1; next(); });
    }
  };
  return (work) => { waiting.push(work); next(); };
}

/** Waits for a number of milliseconds. */
export const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

"""#))

    private static let _js_chat_text_js = EmbeddedFile(path: "js/chat/text.js", content: .text(#"""
// Normalizes text for storing, sending and comparing.

/** The text with U+FFFD for each lone surrogate (half of an emoji), which has no UTF-8 form. */
export function wellFormed(text) {
  return typeof text.toWellFormed === "function" ? text.toWellFormed() : text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** The text without differences of case and width, for a search. */
export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

"""#))

    private static let _js_i18n_js = EmbeddedFile(path: "js/i18n.js", content: .text(#"""
// The page's texts in English and Chinese, selected by navigator.language.

const ENGLISH = {
  tagline: "Messages that stay up in the air until they arrive.",
  signIn: "Sign in", register: "Create account", name: "User name", password: "Password", display: "Display name (optional)",
  nameHint: "4 to 15 letters, digits or _", passwordHint: "At least 8 characters",
  noAccount: "New here?", haveAccount: "Already have an account?", signOut: "Sign out",
  sessionEnded: "Your session has ended. Please sign in again.",
  signedOutElsewhere: "You were signed out.",
  chats: "Chats", search: "Search chats", newChat: "New chat", newGroup: "New group", back: "Back to the chats", close: "Close", cancel: "Cancel",
  findPeople: "Find people by name or @name", nobody: "No people found", morePeople: "Show more people", groupTitle: "Group name", createGroup: "Create group", selected: "{n} selected",
  online: "online", offline: "offline", you: "You", members: "{n} members", membersOnline: "{n} members, {online} online",
  connecting: "Connecting…", connected: "Connected", waiting: "No connection, next try in {s} s", retry: "Retry now",
  noChats: "No chats yet", noChatsHint: "Find people and say hello.", noMatch: "No chat matches", noSuchChat: "This link does not lead to one of your chats.",
  pickChat: "Pick a chat", pickChatHint: "Your messages are kept by the server and wait for you on every device.",
  noMessages: "No messages yet", noMessagesHint: "Say hello to {name}!",
  message: "Message", messageTo: "Message {name}", send: "Send", attach: "Attach a picture", remove: "Remove", caption: "Add a caption",
  photo: "Photo", image: "Picture from {name}", openImage: "Open the picture", imageFailed: "The picture could not be loaded", download: "Download",
  pending: "Sending", sent: "Sent", readMark: "Read", failed: "Not sent", tryAgain: "Try again", discard: "Discard",
  today: "Today", yesterday: "Yesterday", unreadMessages: "Unread messages", toBottom: "Jump to the newest message", toUnread: "Back to the first unread message", unread: "{n} unread",
  loading: "Loading…", beginning: "This is where the conversation begins.",
  joined: "{name} joined", groupMade: "{name} named the group “{title}”", unknownEvent: "A message this version cannot show",
  dropHere: "Drop pictures here to send them", notAPicture: "Only pictures (PNG, JPEG, GIF, WebP) can be sent", tooLarge: "The picture is larger than 10 MB", tooManyPictures: "At most {n} pictures at a time", preparing: "The picture is being prepared",
  tooLong: "A message can have at most 8,000 characters",
  showPassword: "Show password", hidePassword: "Hide password", messages: "Messages",
  error_bad_credentials: "User name or password is wrong.", error_name_taken: "This user name is taken.", error_network: "The server cannot be reached.",
  error_bad_request: "The server did not accept this.", error_forbidden: "You may not do this.", error_not_found: "Not found.",
  error_conflict: "This message was already sent with other words.", error_too_large: "This is too large.", error_storage: "The server cannot store at the moment.",
  error_internal: "Something went wrong on the server.", error_unauthorized: "Please sign in again.", error_too_many: "Too many attempts. Wait a moment and try again.",
};

const CHINESE = {
  tagline: "消息如雨燕，不达不落。",
  signIn: "登录", register: "注册", name: "用户名", password: "密码", display: "昵称（可选）",
  nameHint: "4 到 15 个字母、数字或下划线", passwordHint: "至少 8 个字符",
  noAccount: "还没有账号？", haveAccount: "已有账号？", signOut: "退出登录",
  sessionEnded: "登录已过期，请重新登录。",
  signedOutElsewhere: "你已退出登录。",
  chats: "聊天", search: "搜索聊天", newChat: "发起聊天", newGroup: "新建群聊", back: "返回聊天列表", close: "关闭", cancel: "取消",
  findPeople: "按名字或 @用户名 找人", nobody: "没有找到", morePeople: "显示更多", groupTitle: "群名称", createGroup: "创建群聊", selected: "已选 {n} 人",
  online: "在线", offline: "离线", you: "你", members: "{n} 位成员", membersOnline: "{n} 位成员，{online} 位在线",
  connecting: "连接中…", connected: "已连接", waiting: "连接已断开，{s} 秒后重试", retry: "立即重试",
  noChats: "还没有聊天", noChatsHint: "找个人打声招呼吧。", noMatch: "没有匹配的聊天", noSuchChat: "这个地址没有对应的聊天。",
  pickChat: "选择一个聊天", pickChatHint: "消息都保存在服务器上，在哪台设备上都等着你。",
  noMessages: "还没有消息", noMessagesHint: "和{name}打个招呼吧！",
  message: "消息", messageTo: "发消息给{name}", send: "发送", attach: "添加图片", remove: "移除", caption: "添加说明",
  photo: "图片", image: "{name}发来的图片", openImage: "查看图片", imageFailed: "图片加载失败", download: "下载",
  pending: "发送中", sent: "已发送", readMark: "已读", failed: "未发送", tryAgain: "重试", discard: "放弃",
  today: "今天", yesterday: "昨天", unreadMessages: "未读消息", toBottom: "跳到最新消息", toUnread: "回到第一条未读消息", unread: "{n} 条未读",
  loading: "加载中…", beginning: "聊天从这里开始。",
  joined: "{name}加入了群聊", groupMade: "{name}将群聊命名为“{title}”", unknownEvent: "此版本无法显示的消息",
  dropHere: "拖放图片到这里发送", notAPicture: "只能发送图片（PNG、JPEG、GIF、WebP）", tooLarge: "图片超过 10 MB", tooManyPictures: "一次最多 {n} 张图片", preparing: "图片准备中",
  tooLong: "一条消息最多 8000 个字符",
  showPassword: "显示密码", hidePassword: "隐藏密码", messages: "消息",
  error_bad_credentials: "用户名或密码错误。", error_name_taken: "用户名已被占用。", error_network: "无法连接服务器。",
  error_bad_request: "服务器未接受该请求。", error_forbidden: "没有权限。", error_not_found: "未找到。",
  error_conflict: "这条消息已用其他内容发送。", error_too_large: "内容过大。", error_storage: "服务器暂时无法保存。",
  error_internal: "服务器出错了。", error_unauthorized: "请重新登录。", error_too_many: "尝试次数过多，请稍后再试。",
};

export const locale = navigator.language || "en";
const words = locale.toLowerCase().startsWith("zh") ? CHINESE : ENGLISH;

/** The text for a key, with {placeholders} replaced. */
export function t(key, values = {}) {
  return (words[key] ?? ENGLISH[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The text for an error of the chat. */
export function errorText(error) {
  return words[`error_${error?.code}`] ?? error?.message ?? t("error_internal");
}

"""#))

    private static let _js_main_js = EmbeddedFile(path: "js/main.js", content: .text(#"""
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

"""#))

    private static let _js_socketio_backoff_js = EmbeddedFile(path: "js/socketio/backoff.js", content: .text(#"""
// The delay before the next attempt: 1 s, doubling to 5 s, with a variation of ±50 %, so that many
// pages do not reconnect at once.

export class Backoff {
  #attempt = 0;

  constructor({ from = 1000, to = 5000, jitter = 0.5, random = Math.random } = {}) {
    Object.assign(this, { from, to, jitter, random });
  }

  get attempt() { return this.#attempt; }

  next() {
    const delay = Math.min(this.from * 2 ** Math.min(this.#attempt, 20), this.to);
    this.#attempt += 1;
    return Math.round(delay * (1 + this.jitter * (2 * this.random() - 1)));
  }

  reset() { this.#attempt = 0; }
}

"""#))

    private static let _js_socketio_emitter_js = EmbeddedFile(path: "js/socketio/emitter.js", content: .text(#"""
// A minimal event emitter: the base of Engine, SocketManager, Socket and ChatClient.

export class Emitter {
  #listeners = new Map();

  /** Adds a listener and returns a function that removes it. */
  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.off(name, listener);
  }

  once(name, listener) {
    const remove = this.on(name, (...values) => {
      remove();
      listener(...values);
    });
    return remove;
  }

  off(name, listener) {
    this.#listeners.get(name)?.delete(listener);
  }

  /** Calls the listeners of `name`. If one throws, the others are still called. */
  fire(name, ...values) {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        listener(...values);
      } catch (error) {
        console.error(`A listener of "${name}" failed`, error);
      }
    }
  }
}

"""#))

    private static let _js_socketio_engine_js = EmbeddedFile(path: "js/socketio/engine.js", content: .text(#"""
// An Engine.IO 4 client: one session over HTTP long-polling, WebSocket, or polling upgraded to
// WebSocket.
//
// Events: "open" (handshake), "message" (string | Uint8Array), "upgrade", "close" (reason, error).
// An Engine is used once; SocketManager creates a new one for each attempt.

import { Emitter } from "./emitter.js";
import { SocketError } from "./errors.js";
import { PacketType, decodeFrame, decodePayload, encodeFrame, encodePayload, encodeText, payloadSize } from "./enginepackets.js";

const PROBE_TIMEOUT = 10_000;
const MAXIMUM_PACKETS_A_POST = 64;

export class Engine extends Emitter {
  #url; #transports; #query; #trace; #timeout;
  #state = "idle"; // idle → opening → open → closed
  #transport;
  #handshake = null;
  #queue = [];
  #socket = null; // the WebSocket in use, or probed
  #abort = new AbortController();
  #poll = null; // the pending GET
  #post = null; // the pending POST
  #paused = false; // from the probe's answer to the upgrade packet; no polling request may start
  #openTimer = 0;
  #heartbeatTimer = 0;
  #lastPing = 0;

  /**
   * @param {string|URL} url      the server's origin and Engine.IO path, http(s)
   * @param {object} options      transports: ["polling", "websocket"] or one of them; query;
   *                              timeout in ms; trace: packet => void
   */
  constructor(url, { transports = ["polling", "websocket"], query = {}, timeout = 20_000, trace = null } = {}) {
    super();
    this.#url = new URL(url);
    this.#transports = transports;
    this.#query = query;
    this.#timeout = timeout;
    this.#trace = trace;
    this.#transport = transports[0];
  }

  get transport() { return this.#transport; }
  get id() { return this.#handshake?.sid ?? null; }
  get isOpen() { return this.#state === "open"; }

  open() {
    if (this.#state !== "idle") return;
    this.#state = "opening";
    this.#openTimer = setTimeout(
      () => this.#closed("transport error", new SocketError("timeout", "The server did not answer in time.")), this.#timeout);
    if (this.#transport === "websocket") this.#attach(this.#makeSocket());
    else this.#pollOnce();
  }

  /** Queues a message. The messages of one turn are sent together at its end. */
  send(data) {
    if (this.#state !== "open") return;
    this.#enqueue({ type: PacketType.message, data });
  }

  close() {
    if (this.#state === "closed") return;
    if (this.#state === "open") {
      this.#queue.push({ type: PacketType.close, data: "" });
      // Polling sends the queue and the close packet in a last POST, which may outlive the page.
      // The pending GET is aborted afterwards: the server would otherwise close the session first.
      if (this.#transport === "polling") this.#lastPost().finally(() => this.#abort.abort());
      else this.#writeFrames();
    }
    this.#closed("forced close", null, { abort: this.#transport !== "polling" || this.#state !== "open" });
  }

  /**
   * Closes a session after a missed ping. Called by pages whose timers were suspended (tabs,
   * laptops).
   */
  checkHeartbeat() {
    if (this.#state !== "open" || !this.#handshake.pingInterval) return;
    const silence = performance.now() - this.#lastPing;
    if (silence > this.#handshake.pingInterval + this.#handshake.pingTimeout) {
      this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time."));
    }
  }

  // --- one packet ---

  #received(packet) {
    this.#trace?.({ direction: "in", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
    switch (packet.type) {
      case PacketType.open: return this.#opened(packet.data);
      case PacketType.ping:
        this.#armHeartbeat();
        return this.#enqueue({ type: PacketType.pong, data: packet.data });
      case PacketType.message: return this.fire("message", packet.data);
      case PacketType.close: return this.#closed("transport close");
      default: return; // noop, and packets that only clients send
    }
  }

  #opened(text) {
    if (this.#state !== "opening") return;
    try {
      this.#handshake = JSON.parse(text);
    } catch {
      return this.#closed("parse error", new SocketError("parse", "The server's handshake is not JSON."));
    }
    clearTimeout(this.#openTimer);
    this.#state = "open";
    this.#armHeartbeat();
    this.fire("open", this.#handshake);
    const upgrades = this.#handshake.upgrades ?? [];
    if (this.#state === "open" && this.#transport === "polling" && this.#transports.includes("websocket") && upgrades.includes("websocket")) {
      this.#probe();
    }
  }

  #armHeartbeat() {
    this.#lastPing = performance.now();
    clearTimeout(this.#heartbeatTimer);
    const { pingInterval, pingTimeout } = this.#handshake ?? {};
    if (!pingInterval) return; // python-engineio can disable the heartbeat
    this.#heartbeatTimer = setTimeout(
      () => this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time.")), pingInterval + pingTimeout);
  }

  #enqueue(packet) {
    this.#queue.push(packet);
    if (this.#queue.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush() {
    if (this.#state !== "open" || this.#queue.length === 0 || this.#paused) return;
    if (this.#transport === "websocket") this.#writeFrames();
    else if (!this.#post) this.#postBatch();
  }

  #closed(reason, error, { abort = true } = {}) {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#openTimer);
    clearTimeout(this.#heartbeatTimer);
    if (abort) this.#abort.abort();
    if (this.#socket) {
      this.#socket.onopen = this.#socket.onmessage = this.#socket.onerror = this.#socket.onclose = null;
      this.#socket.close();
    }
    this.fire("close", reason, error ?? null);
  }

  #address(transport) {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(this.#query)) url.searchParams.set(name, value);
    url.searchParams.set("EIO", "4");
    url.searchParams.set("transport", transport);
    if (this.#handshake) url.searchParams.set("sid", this.#handshake.sid);
    if (transport === "websocket") url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url;
  }

  // --- polling ---

  async #pollOnce() {
    while (this.#state === "opening" || (this.#state === "open" && this.#transport === "polling" && !this.#paused)) {
      this.#poll = this.#request("GET");
      const body = await this.#poll;
      this.#poll = null;
      if (body === null || this.#state === "closed") return;
      try {
        for (const packet of decodePayload(body)) {
          if (this.#state === "closed") return;
          this.#received(packet);
        }
      } catch (error) {
        return this.#closed("parse error", new SocketError("parse", error.message));
      }
      if (this.#state === "opening") {
        return this.#closed("parse error", new SocketError("parse", "The server answered without a handshake."));
      }
    }
  }

  async #postBatch() {
    const limit = this.#handshake.maxPayload || 1_000_000;
    let count = 0;
    let size = 0;
    // Sends at least one packet. If it is too large, the server refuses it with a reason.
    do { size += payloadSize(this.#queue[count++]); } while (
      count < this.#queue.length && count < MAXIMUM_PACKETS_A_POST && size + payloadSize(this.#queue[count]) <= limit);
    const batch = this.#queue.splice(0, count);
    this.#traceOut(batch);
    this.#post = this.#request("POST", encodePayload(batch));
    await this.#post;
    this.#post = null;
    this.#flush();
  }

  async #lastPost() {
    this.#traceOut(this.#queue);
    const body = encodePayload(this.#queue.splice(0));
    if (this.#post) await this.#post; // a session has one POST at a time
    await fetch(this.#address("polling"), { method: "POST", body, headers: { "Content-Type": "text/plain;charset=UTF-8" }, keepalive: body.length < 60_000 })
      .catch(() => {}); // the session has ended
  }

  /** The body of the answer, or null after an error that closed the session. */
  async #request(method, body) {
    const headers = body === undefined ? {} : { "Content-Type": "text/plain;charset=UTF-8" };
    try {
      const response = await fetch(this.#address("polling"), { method, body, headers, cache: "no-store", signal: this.#abort.signal });
      const text = await response.text();
      if (response.ok) return text;
      this.#closed("transport error", new SocketError("refused", refusal(response.status, text)));
    } catch (error) {
      if (this.#state !== "closed") this.#closed("transport error", new SocketError("transport", error.message));
    }
    return null;
  }

  // --- WebSocket ---

  #makeSocket() {
    const socket = new WebSocket(this.#address("websocket"));
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    return socket;
  }

  #attach(socket) {
    socket.onopen = null;
    socket.onmessage = (event) => {
      try {
        this.#received(decodeFrame(event.data));
      } catch (error) {
        this.#closed("parse error", new SocketError("parse", error.message));
      }
    };
    socket.onerror = () => {}; // a close with its code always follows
    socket.onclose = (event) => {
      const opening = this.#state === "opening";
      this.#closed(opening ? "transport error" : "transport close", new SocketError("transport", `The WebSocket closed (${event.code}).`));
    };
  }

  #writeFrames() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const packets = this.#queue.splice(0);
    this.#traceOut(packets);
    for (const packet of packets) this.#socket.send(encodeFrame(packet));
  }

  #traceOut(packets) {
    if (!this.#trace) return;
    for (const packet of packets) {
      this.#trace({ direction: "out", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
    }
  }

  // --- upgrade: open, 2probe, 3probe, finish polling, 5 ---

  #probe() {
    const socket = this.#makeSocket();
    const trace = (direction, data) => this.#trace?.({ direction, transport: "websocket", data });
    const failed = () => {
      // Only the probe failed; the session continues with polling.
      clearTimeout(timer);
      socket.onopen = socket.onmessage = socket.onerror = socket.onclose = null;
      socket.close();
      this.#socket = null;
      if (this.#paused) {
        this.#paused = false;
        if (!this.#poll) this.#pollOnce();
        this.#flush();
      }
    };
    const timer = setTimeout(failed, PROBE_TIMEOUT);
    socket.onerror = () => {};
    socket.onclose = () => failed();
    socket.onopen = () => {
      trace("out", "2probe");
      socket.send("2probe");
    };
    socket.onmessage = async (event) => {
      trace("in", event.data);
      if (event.data !== "3probe") return failed();
      this.#paused = true;
      // The server answers the pending poll with a noop, so both end soon. Their packets are
      // processed.
      await Promise.all([this.#poll, this.#post]);
      await Promise.resolve();
      if (this.#state !== "open" || socket.readyState !== WebSocket.OPEN) return;
      clearTimeout(timer);
      this.#attach(socket);
      trace("out", "5");
      socket.send("5");
      this.#transport = "websocket";
      this.#paused = false;
      this.fire("upgrade");
      this.#flush();
    };
  }
}

/** The message of a refused request: Engine.IO's JSON error, or the status. */
function refusal(status, text) {
  try {
    const { message } = JSON.parse(text);
    if (message) return `${message} (HTTP ${status})`;
  } catch { /* not JSON */ }
  return `The server answered HTTP ${status}.`;
}

"""#))

    private static let _js_socketio_enginepackets_js = EmbeddedFile(path: "js/socketio/enginepackets.js", content: .text(#"""
// Engine.IO protocol 4: packets and polling payloads. Pure functions.
//
// A packet is {type, data}: type is one of the digits below, data a string or, for a message, a
// Uint8Array.

export const PacketType = Object.freeze({
  open: "0", close: "1", ping: "2", pong: "3", message: "4", upgrade: "5", noop: "6",
});

const SEPARATOR = "\x1e";
const isType = (digit) => digit >= "0" && digit <= "6" && digit.length === 1;

/** One element of a polling payload: binary is `b` and base64, without a type digit. */
export function encodeText(packet) {
  return packet.data instanceof Uint8Array ? "b" + toBase64(packet.data) : packet.type + (packet.data ?? "");
}

/** A WebSocket frame. Binary data is not encoded. */
export function encodeFrame(packet) {
  return packet.data instanceof Uint8Array ? packet.data : packet.type + (packet.data ?? "");
}

export function decodeFrame(frame) {
  if (typeof frame !== "string") return { type: PacketType.message, data: new Uint8Array(frame) };
  if (!isType(frame.charAt(0))) throw new Error("a frame that is not an Engine.IO packet");
  return { type: frame.charAt(0), data: frame.slice(1) };
}

export function encodePayload(packets) {
  return packets.map(encodeText).join(SEPARATOR);
}

export function decodePayload(body) {
  return body.split(SEPARATOR).map((element) =>
    element.charAt(0) === "b" ? { type: PacketType.message, data: fromBase64(element.slice(1)) } : decodeFrame(element));
}

/** The maximum size of a packet in a POST body, including the separator. */
export function payloadSize(packet) {
  if (packet.data instanceof Uint8Array) return 2 + Math.ceil(packet.data.length / 3) * 4;
  // UTF-8 needs at most three bytes for each UTF-16 unit. Counting exactly would encode everything
  // twice.
  return 2 + (packet.data ?? "").length * 3;
}

function toBase64(bytes) {
  let binary = "";
  // In pieces, because the number of arguments of String.fromCharCode is limited.
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

"""#))

    private static let _js_socketio_errors_js = EmbeddedFile(path: "js/socketio/errors.js", content: .text(#"""
/**
 * An error of the client. Its `code` is one of:
 * `transport`, `timeout`, `parse`, `refused`, `disconnected`, `not_connected`, `ack_timeout`,
 * `connect_error`.
 */
export class SocketError extends Error {
  constructor(code, message, data) {
    super(message);
    this.name = "SocketError";
    this.code = code;
    this.data = data;
  }
}

"""#))

    private static let _js_socketio_index_js = EmbeddedFile(path: "js/socketio/index.js", content: .text(#"""
// A small Socket.IO client (Engine.IO 4, Socket.IO 5) for browsers, without dependencies.
//
//   const manager = new SocketManager(location.origin);
//   const socket = manager.socket("/chat", { auth: () => ({ token }) });
//   socket.on("message", (text) => …);
//   socket.connect();
//   const [answer] = await socket.emitWithAck("add", [1, 2], { timeout: 5000 });

export { SocketManager } from "./manager.js";
export { SocketError } from "./errors.js";
export { Emitter } from "./emitter.js";

"""#))

    private static let _js_socketio_manager_js = EmbeddedFile(path: "js/socketio/manager.js", content: .text(#"""
// Maintains one Engine.IO session for any number of namespaces, and reconnects it.

import { Backoff } from "./backoff.js";
import { Emitter } from "./emitter.js";
import { Engine } from "./engine.js";
import { PacketDecoder, encodePacket } from "./packets.js";
import { Socket } from "./socket.js";

/**
 * Events: "state" ({name: "closed" | "connecting" | "open" | "waiting", transport, attempt, retryAt,
 * error}).
 */
export class SocketManager extends Emitter {
  #options;
  #sockets = new Map();
  #engine = null;
  #decoder = null;
  #backoff;
  #retryTimer = 0;
  #state = { name: "closed", attempt: 0 };

  /**
   * Options: path, transports, query, timeout (ms), reconnection (false or {from, to, jitter}),
   * trace (packet => void).
   */
  constructor(url, options = {}) {
    super();
    this.#options = { path: "/socket.io/", transports: ["polling", "websocket"], timeout: 20_000, reconnection: {}, ...options };
    this.url = new URL(this.#options.path, url);
    this.#backoff = new Backoff(this.#options.reconnection || {});
    // Tries at once when the network is available again or the page is shown again. Closes the
    // session when the network is lost.
    globalThis.addEventListener?.("online", () => this.retryNow());
    globalThis.addEventListener?.("offline", () => this.#engine?.close());
    globalThis.document?.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      this.#engine?.checkHeartbeat();
      this.retryNow();
    });
  }

  get state() { return this.#state; }
  get timeout() { return this.#options.timeout; }
  get transport() { return this.#engine?.isOpen ? this.#engine.transport : null; }
  get engineID() { return this.#engine?.id ?? null; }

  /**
   * The socket of a namespace, created on first use. `auth` is a value, or a function called at
   * each attempt.
   */
  socket(namespace = "/", options = {}) {
    if (!this.#sockets.has(namespace)) this.#sockets.set(namespace, new Socket(this, namespace, options));
    return this.#sockets.get(namespace);
  }

  /** Ends the delay before the next attempt. */
  retryNow() {
    if (this.#state.name !== "waiting") return;
    clearTimeout(this.#retryTimer);
    this.#open();
  }

  // --- for Socket ---

  /** @internal Connects a socket. */
  join(socket) {
    if (this.#engine?.isOpen) socket.engineOpened();
    else if (this.#state.name === "closed") this.#open();
    else this.retryNow();
  }

  /** @internal Disconnects a socket. The last one closes the session. */
  left() {
    if ([...this.#sockets.values()].some((socket) => socket.wanted)) return;
    clearTimeout(this.#retryTimer);
    this.#backoff.reset();
    this.#engine?.close();
    this.#engine = null;
    this.#change({ name: "closed", attempt: 0 });
  }

  /** @internal */
  send(packet) {
    for (const frame of encodePacket(packet)) this.#engine?.send(frame);
  }

  /** @internal A namespace accepted the connection, which resets the backoff. */
  joined() {
    this.#backoff.reset();
  }

  /** @internal */
  drop() {
    this.#engine?.close();
  }

  // --- the session ---

  #open() {
    const { transports, query, timeout, trace } = this.#options;
    const engine = new Engine(this.url, { transports, query, timeout, trace });
    this.#engine = engine;
    this.#decoder = new PacketDecoder();
    engine.on("open", () => {
      this.#change({ name: "open", attempt: 0, transport: engine.transport });
      for (const socket of this.#sockets.values()) if (socket.wanted) socket.engineOpened();
    });
    engine.on("upgrade", () => this.#change({ ...this.#state, transport: engine.transport }));
    engine.on("message", (frame) => this.#received(engine, frame));
    engine.on("close", (reason, error) => {
      if (engine === this.#engine) this.#dropped(reason, error);
    });
    this.#change({ name: "connecting", attempt: this.#backoff.attempt });
    engine.open();
  }

  #received(engine, frame) {
    if (engine !== this.#engine) return;
    let packet;
    try {
      packet = this.#decoder.add(frame);
    } catch (error) {
      console.warn("Socket.IO: a malformed packet", error);
      engine.close();
      return;
    }
    if (packet) this.#sockets.get(packet.namespace)?.received(packet);
  }

  #dropped(reason, error) {
    this.#engine = null;
    const sockets = [...this.#sockets.values()];
    for (const socket of sockets) socket.engineClosed(reason, error);
    // A listener may have called connect or disconnect.
    if (this.#engine || !sockets.some((socket) => socket.wanted)) {
      if (!this.#engine) this.#change({ name: "closed", attempt: 0, error });
      return;
    }
    if (!this.#options.reconnection) {
      for (const socket of sockets) socket.giveUp();
      this.#change({ name: "closed", attempt: 0, error });
      return;
    }
    const delay = this.#backoff.next();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#open(), delay);
    this.#change({ name: "waiting", attempt: this.#backoff.attempt, retryAt: Date.now() + delay, error });
  }

  #change(state) {
    this.#state = state;
    this.fire("state", state);
  }
}


"""#))

    private static let _js_socketio_packets_js = EmbeddedFile(path: "js/socketio/packets.js", content: .text(#"""
// Socket.IO protocol 5: packets as text with binary attachments at any depth. Pure.
//
// A packet is {type, namespace, data, id}: data is the auth of a CONNECT, the array of an EVENT or
// ACK, the error of a CONNECT_ERROR.

export const PacketType = Object.freeze({ connect: 0, disconnect: 1, event: 2, ack: 3, connectError: 4, binaryEvent: 5, binaryAck: 6 });

const MAXIMUM_ATTACHMENTS = 64;
const RESERVED = new Set(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]);

/**
 * The frames of a packet: its text first, then the attachments in the order of their placeholders.
 */
export function encodePacket({ type, namespace = "/", data, id }) {
  const attachments = [];
  let body = data;
  if (type === PacketType.event || type === PacketType.ack) {
    body = takeOut(data, attachments);
    if (attachments.length > 0) type = type === PacketType.event ? PacketType.binaryEvent : PacketType.binaryAck;
  }
  let text = String(type);
  if (attachments.length > 0) text += attachments.length + "-";
  if (namespace !== "/") text += namespace + ",";
  if (id !== undefined) text += id;
  if (body !== undefined) text += JSON.stringify(body);
  return [text, ...attachments];
}

/** Assembles packets. Throws on a protocol error, after which the connection must be closed. */
export class PacketDecoder {
  #pending = null; // {packet, missing, attachments}

  /** Returns a complete packet, or null while attachments are missing. */
  add(frame) {
    if (typeof frame === "string") {
      if (this.#pending) throw new Error("text instead of an attachment");
      const { packet, attachments } = decodeText(frame);
      if (attachments === 0) return finish(packet, []);
      this.#pending = { packet, missing: attachments, attachments: [] };
      return null;
    }
    const pending = this.#pending;
    if (!pending) throw new Error("an attachment without a packet");
    pending.attachments.push(frame);
    if (--pending.missing > 0) return null;
    this.#pending = null;
    return finish(pending.packet, pending.attachments);
  }
}

function decodeText(text) {
  const type = text.charCodeAt(0) - 48;
  if (!(type >= 0 && type <= 6)) throw new Error("unknown packet type");
  let at = 1;
  let attachments = 0;
  if (type === PacketType.binaryEvent || type === PacketType.binaryAck) {
    const end = text.indexOf("-", at);
    const digits = text.slice(at, end < 0 ? at : end);
    if (!/^\d{1,4}$/.test(digits) || Number(digits) > MAXIMUM_ATTACHMENTS) throw new Error("an invalid number of attachments");
    attachments = Number(digits);
    at = end + 1;
  }
  let namespace = "/";
  if (text[at] === "/") {
    const end = text.indexOf(",", at);
    namespace = text.slice(at, end < 0 ? undefined : end);
    at = end < 0 ? text.length : end + 1;
  }
  let id;
  const digits = /^\d{1,15}/.exec(text.slice(at, at + 16))?.[0];
  if (digits) {
    id = Number(digits);
    at += digits.length;
  }
  const data = at < text.length ? JSON.parse(text.slice(at)) : undefined;
  const plain = type === PacketType.binaryEvent ? PacketType.event : type === PacketType.binaryAck ? PacketType.ack : type;
  const packet = { type: plain, namespace, id, data };
  validate(packet); // before it waits for attachments
  return { packet, attachments };
}

function validate({ type, id, data }) {
  if (type === PacketType.event) {
    if (!Array.isArray(data) || (typeof data[0] !== "string" && typeof data[0] !== "number")) throw new Error("an event without a name");
    if (RESERVED.has(data[0])) throw new Error("a reserved event name");
  } else if (type === PacketType.ack && (!Array.isArray(data) || id === undefined)) throw new Error("a malformed ack");
}

function finish(packet, attachments) {
  return attachments.length > 0 ? { ...packet, data: putBack(packet.data, attachments) } : packet;
}

const isBinary = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);
const bytesOf = (value) =>
  value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

function takeOut(value, attachments) {
  if (value === null || typeof value !== "object") return value;
  if (isBinary(value)) return { _placeholder: true, num: attachments.push(bytesOf(value)) - 1 };
  if (Array.isArray(value)) return value.map((element) => takeOut(element, attachments));
  if (typeof value.toJSON === "function") return takeOut(value.toJSON(), attachments);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, takeOut(member, attachments)]));
}

function putBack(value, attachments) {
  if (value === null || typeof value !== "object") return value;
  if (value._placeholder === true) {
    if (!Number.isInteger(value.num) || value.num < 0 || value.num >= attachments.length) throw new Error("a placeholder out of range");
    return attachments[value.num];
  }
  if (Array.isArray(value)) return value.map((element) => putBack(element, attachments));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, putBack(member, attachments)]));
}

"""#))

    private static let _js_socketio_socket_js = EmbeddedFile(path: "js/socketio/socket.js", content: .text(#"""
// One namespace of a session: events in both directions, and acks with a timeout.

import { Emitter } from "./emitter.js";
import { SocketError } from "./errors.js";
import { PacketType } from "./packets.js";

/**
 * Events of the connection: "connect", "connect_error" (error), "disconnect" (reason). All others
 * are events of the server with their arguments; if the server requests an ack, the last argument
 * is a function. `onAny` receives every event of the server.
 */
export class Socket {
  #manager; #auth;
  #local = new Emitter(); // connect, connect_error, disconnect
  #remote = new Emitter(); // events of the server, which cannot fire local ones
  #any = new Set();
  #acks = new Map();
  #nextAck = 0;
  #joinTimer = 0;
  #joining = 0;

  constructor(manager, namespace, { auth = undefined } = {}) {
    this.#manager = manager;
    this.#auth = auth;
    this.namespace = namespace;
    this.id = null;
    this.wanted = false; // between connect() and disconnect()
  }

  get connected() { return this.id !== null; }

  on(name, listener) { return this.#of(name).on(String(name), listener); }
  once(name, listener) { return this.#of(name).once(String(name), listener); }
  off(name, listener) { this.#of(name).off(String(name), listener); }
  onAny(listener) { this.#any.add(listener); return () => this.#any.delete(listener); }

  #of(name) {
    return name === "connect" || name === "connect_error" || name === "disconnect" ? this.#local : this.#remote;
  }

  connect() {
    if (this.wanted) return this;
    this.wanted = true;
    this.#manager.join(this);
    return this;
  }

  disconnect() {
    if (!this.wanted) return this;
    this.wanted = false;
    if (this.connected) this.#manager.send({ type: PacketType.disconnect, namespace: this.namespace });
    this.#ended("io client disconnect");
    this.#manager.left();
    return this;
  }

  /**
   * Sends an event. Returns false, and sends nothing, while not connected; the application queues
   * messages.
   */
  emit(name, ...values) {
    if (!this.connected) return false;
    this.#manager.send({ type: PacketType.event, namespace: this.namespace, data: [name, ...values] });
    return true;
  }

  /**
   * Sends an event and returns the arguments of its ack. Rejects immediately when the connection is
   * lost.
   */
  emitWithAck(name, values = [], { timeout = 10_000 } = {}) {
    return new Promise((resolve, reject) => {
      if (!this.connected) return reject(new SocketError("not_connected", "Not connected."));
      const id = this.#nextAck++;
      const timer = setTimeout(() => {
        this.#acks.delete(id);
        reject(new SocketError("ack_timeout", `No ack of "${name}" within ${timeout} ms.`));
      }, timeout);
      this.#acks.set(id, { resolve, reject, timer });
      this.#manager.send({ type: PacketType.event, namespace: this.namespace, id, data: [name, ...values] });
    });
  }

  // --- for SocketManager ---

  /** @internal */
  async engineOpened() {
    const attempt = ++this.#joining;
    let auth;
    try {
      auth = typeof this.#auth === "function" ? await this.#auth() : this.#auth;
    } catch (error) {
      this.wanted = false;
      this.#local.fire("connect_error", new SocketError("connect_error", error.message));
      return this.#manager.left();
    }
    if (attempt !== this.#joining || !this.wanted) return;
    this.#manager.send({ type: PacketType.connect, namespace: this.namespace, data: auth });
    clearTimeout(this.#joinTimer);
    this.#joinTimer = setTimeout(() => this.#manager.drop(), this.#manager.timeout);
  }

  /** @internal */
  engineClosed(reason, error) {
    if (this.wanted && !this.connected) {
      this.#local.fire("connect_error", error ?? new SocketError("transport", reason));
    }
    this.#ended(reason);
  }

  /** @internal */
  giveUp() { this.wanted = false; }

  /** @internal */
  received(packet) {
    switch (packet.type) {
      case PacketType.connect:
        if (!this.wanted || this.connected) return;
        clearTimeout(this.#joinTimer);
        this.id = packet.data?.sid ?? "";
        this.#manager.joined();
        return this.#local.fire("connect");
      case PacketType.connectError: {
        clearTimeout(this.#joinTimer);
        this.wanted = false;
        const { message = "Refused.", data } = packet.data ?? {};
        this.#local.fire("connect_error", new SocketError("connect_error", message, data));
        return this.#manager.left();
      }
      case PacketType.disconnect:
        this.wanted = false;
        this.#ended("io server disconnect");
        return this.#manager.left();
      case PacketType.event: return this.#event(packet);
      case PacketType.ack: {
        const waiting = this.#acks.get(packet.id);
        if (!waiting) return; // late or unexpected
        this.#acks.delete(packet.id);
        clearTimeout(waiting.timer);
        return waiting.resolve(packet.data);
      }
    }
  }

  #event({ data: [name, ...values], id }) {
    if (!this.connected) return;
    if (id !== undefined) {
      let done = false;
      values.push((...answer) => {
        if (done || !this.connected) return;
        done = true;
        this.#manager.send({ type: PacketType.ack, namespace: this.namespace, id, data: answer });
      });
    }
    for (const listener of this.#any) listener(String(name), values);
    this.#remote.fire(String(name), ...values);
  }

  #ended(reason) {
    this.#joining++;
    clearTimeout(this.#joinTimer);
    const was = this.connected;
    this.id = null;
    for (const { reject, timer } of this.#acks.values()) {
      clearTimeout(timer);
      reject(new SocketError("disconnected", `The connection was closed before the ack (${reason}).`));
    }
    this.#acks.clear();
    if (was) this.#local.fire("disconnect", reason);
  }
}

"""#))

    private static let _js_test_js = EmbeddedFile(path: "js/test.js", content: .text(#"""
// The test page: buttons for events of the demo, and a log of all packets in both directions.

import { SocketManager } from "./socketio/index.js";
import { h } from "./ui/dom.js";

const KEPT = 1000; // lines of the log
const LONGEST = 2000; // characters of a packet shown
const ACK_TIMEOUT = 10_000;
const ENGINE = { 0: "open", 1: "close", 2: "ping", 3: "pong", 5: "upgrade", 6: "noop" };
const SOCKET = { 0: "CONNECT", 1: "DISCONNECT", 2: "EVENT", 3: "ACK", 4: "CONNECT_ERROR", 5: "BINARY_EVENT", 6: "BINARY_ACK" };
const TRANSPORTS = { auto: ["polling", "websocket"], polling: ["polling"], websocket: ["websocket"] };

const $ = (id) => document.getElementById(id);
const log = $("log");
const counts = { in: 0, out: 0 };
let manager = null;
let socket = null;

$("connect").addEventListener("click", connect);
$("disconnect").addEventListener("click", () => socket?.disconnect());
$("clear").addEventListener("click", () => log.replaceChildren());
$("heartbeats").addEventListener("change", (event) => log.classList.toggle("with-heartbeats", event.target.checked));
$("send-text").addEventListener("click", () => {
  socket.emit("chatMessage", message());
  tell("Sent.", true);
});
$("send-binary").addEventListener("click", () => {
  socket.emit("binaryEvent", binary());
  tell("Sent.", true);
});
$("send-ack").addEventListener("click", () => ack("chatMessage", message()));
$("send-binary-ack").addEventListener("click", () => ack("binaryAckTest", binary()));
$("send-ten").addEventListener("click", tenAcks);

function connect() {
  const transport = document.querySelector("[name=transport]:checked").value;
  manager = new SocketManager(location.origin, { transports: TRANSPORTS[transport], trace: packet });
  socket = manager.socket("/");
  manager.on("state", render);
  socket.on("connect", () => {
    note(`connected, socket id ${socket.id}`);
    render();
  });
  socket.on("disconnect", (reason) => {
    note(`disconnected: ${reason}`);
    render();
  });
  socket.on("connect_error", (error) => {
    note(`connection failed: ${error.message}`);
    render();
  });
  socket.onAny((name, values) => {
    // Acknowledges events of the server that request it.
    const answer = values.at(-1);
    if (typeof answer === "function") answer({ status: "ok", event: name });
  });
  socket.connect();
  render();
}

function render() {
  const { name, retryAt, transport } = manager.state;
  const connected = socket.connected;
  const state = connected ? "open" : name === "open" ? "connecting" : name;
  $("state").dataset.state = state;
  $("state").textContent = { open: "connected", connecting: "connecting…", closed: "disconnected" }[state]
    ?? `waiting ${Math.max(0, Math.round((retryAt - Date.now()) / 100) / 10)} s`;
  $("connect").disabled = socket.wanted;
  $("disconnect").disabled = !socket.wanted;
  for (const choice of document.querySelectorAll("[name=transport]")) choice.disabled = socket.wanted;
  for (const button of document.querySelectorAll("#actions button")) button.disabled = !connected;
  $("transport-in-use").textContent = connected ? transport : "–";
  $("socket-id").textContent = socket.id ?? "–";
}

const message = () => ({ message: $("text").value, timestamp: new Date().toISOString() });

/** 256 bytes with all values. */
const binary = () => ({ binaryData: Uint8Array.from({ length: 256 }, (_, at) => at), text: $("text").value, timestamp: new Date().toISOString() });

async function ack(name, payload) {
  const began = performance.now();
  try {
    const answer = await socket.emitWithAck(name, [payload], { timeout: ACK_TIMEOUT });
    tell(`Ack of ${name} after ${milliseconds(began)}: ${shown(answer)}`, true);
  } catch (error) {
    tell(`${name}: ${error.message}`, false);
  }
}

async function tenAcks() {
  const began = performance.now();
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, at) =>
    socket.emitWithAck("customEvent", [{ message: `ACK Test ${at + 1}`, index: at + 1, timestamp: new Date().toISOString() }], { timeout: ACK_TIMEOUT })));
  const good = results.filter((result) => result.status === "fulfilled").length;
  tell(`${good} of 10 acks after ${milliseconds(began)}`, good === 10);
}

const milliseconds = (began) => `${(performance.now() - began).toFixed(1)} ms`;

function tell(text, ok) {
  $("result").textContent = text;
  $("result").dataset.ok = String(ok);
}

// --- the log ---

/** The trace hook of the client. Adds one line for each packet. */
function packet({ direction, transport, data }) {
  counts[direction]++;
  $("counts").textContent = `${counts.in} / ${counts.out}`;
  const what = describe(data);
  line(direction, transport, what, data instanceof Uint8Array ? hexadecimal(data) : data);
}

function describe(data) {
  if (data instanceof Uint8Array) return "attachment";
  if (data.startsWith("b")) return "attachment";
  if (data.charAt(0) !== "4") return ENGINE[data.charAt(0)] ?? "?";
  return SOCKET[data.charAt(1)] ?? "message";
}

function hexadecimal(bytes) {
  const head = Array.from(bytes.subarray(0, 24), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${bytes.length} bytes: ${head}${bytes.length > 24 ? " …" : ""}`;
}

const shown = (value) => JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? `<${each.length} bytes>` : each));

function note(text) {
  line("note", "", "", text);
}

function line(kind, transport, what, text) {
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
  const heartbeat = what === "ping" || what === "pong" || /^42\["heartbeat"/.test(text);
  log.append(h("li", { class: `${kind}${heartbeat ? " heartbeat" : ""}` },
    h("time", {}, new Date().toISOString().slice(11, 23)), h("span", { class: "arrow" }, { in: "←", out: "→", note: "·" }[kind]),
    h("span", { class: "via" }, transport), h("span", { class: "what" }, what), h("span", { class: "data" }, cut)));
  while (log.children.length > KEPT) log.firstElementChild.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

setInterval(() => manager?.state.name === "waiting" && render(), 200);

"""#))

    private static let _js_ui_address_js = EmbeddedFile(path: "js/ui/address.js", content: .text(#"""
// The part of the page's address after #, which selects the conversation.

/**
 * Parses an address: `id` is the conversation or null; `isBroken` means that the address is
 * malformed.
 */
export function readAddress(hash) {
  const found = /^#\/c\/(.+)$/s.exec(hash);
  if (!found) return { id: null, isBroken: false };
  try {
    return { id: decodeURIComponent(found[1]), isBroken: false };
  } catch {
    return { id: null, isBroken: true };
  }
}

export const addressOf = (id) => `#/c/${encodeURIComponent(id)}`;

"""#))

    private static let _js_ui_auth_js = EmbeddedFile(path: "js/ui/auth.js", content: .text(#"""
// The card for signing in and registering.

import { login, register } from "../chat/api.js";
import { errorText, t } from "../i18n.js";
import { h } from "./dom.js";
import { icon, logo } from "./icons.js";

const NAME = "[A-Za-z0-9](?:[A-Za-z0-9_]{2,13})[A-Za-z0-9]";

/**
 * Shows the card in `root`. Calls `done(session)` after success. `notice` is the reason for a
 * repeated sign-in.
 */
export function showAuth(root, { notice, done }) {
  let registering = false;
  render();

  function render() {
    const error = h("p", { class: "form-error", role: "alert" });
    const name = field("name", t("name"), {
      autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true, maxlength: 15, pattern: registering ? NAME : null,
      title: registering ? t("nameHint") : null,
    });
    const display = registering ? field("display", t("display"), { autocomplete: "nickname", maxlength: 50 }) : null;
    const password = field("password", t("password"), {
      type: "password", autocomplete: registering ? "new-password" : "current-password", required: true, minlength: registering ? 8 : null,
    });
    const input = password.querySelector("input");
    const eye = h("button", { type: "button", class: "icon-button peek", "aria-label": t("showPassword"), "aria-pressed": "false", onclick: peek }, icon("eye"));
    password.append(eye);
    function peek() {
      const shown = input.type === "password";
      input.type = shown ? "text" : "password";
      eye.setAttribute("aria-pressed", String(shown));
      eye.setAttribute("aria-label", t(shown ? "hidePassword" : "showPassword"));
    }
    const submit = h("button", { class: "primary wide", type: "submit" }, t(registering ? "register" : "signIn"));

    const form = h("form", { class: "card auth-card", id: "auth-form", onsubmit: send },
      h("div", { class: "brand" }, h("span", { class: "brand-mark" }, logo()), h("h1", {}, "Apus"), h("p", { class: "tagline" }, t("tagline"))),
      notice ? h("p", { class: "notice", role: "status" }, notice) : null,
      name, registering ? h("p", { class: "hint" }, t("nameHint")) : null,
      display,
      password, registering ? h("p", { class: "hint" }, t("passwordHint")) : null,
      error, submit,
      h("p", { class: "switch" }, t(registering ? "haveAccount" : "noAccount"), " ",
        h("button", { type: "button", class: "link", id: "auth-switch", onclick: () => { registering = !registering; notice = null; render(); } },
          t(registering ? "signIn" : "register"))));

    async function send(event) {
      event.preventDefault();
      error.textContent = "";
      submit.disabled = true;
      const values = Object.fromEntries(new FormData(form));
      try {
        done(registering
          ? await register(values.name.trim(), values.password, values.display?.trim())
          : await login(values.name.trim(), values.password));
      } catch (failure) {
        // The server's message says which rule was violated.
        error.textContent = failure.code === "bad_request" ? failure.message : errorText(failure);
        submit.disabled = false;
        input.select();
      }
    }

    root.replaceChildren(h("main", { class: "auth" }, form));
    name.querySelector("input").focus();
  }
}

function field(name, label, attributes) {
  return h("label", { class: "field" }, h("span", { class: "field-label" }, label), h("input", { name, type: "text", ...attributes }));
}

"""#))

    private static let _js_ui_avatar_js = EmbeddedFile(path: "js/ui/avatar.js", content: .text(#"""
// The avatar of a user: initials on a color that is derived from the id.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { initials } from "./format.js";
import { t } from "../i18n.js";

const HUES = 8;

export function hueOf(id) {
  let hash = 2166136261;
  for (const character of id) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
  return (hash >>> 0) % HUES;
}

export function personAvatar(person, { presence = true } = {}) {
  return h("span", { class: `avatar hue-${hueOf(person.id)}`, "aria-hidden": "true" }, initials(person.display),
    presence && person.online ? h("span", { class: "dot", title: t("online") }) : null);
}

export function groupAvatar(conversation) {
  return h("span", { class: `avatar group hue-${hueOf(conversation.id)}`, "aria-hidden": "true" }, icon("group"));
}

export function avatarOf(chat, conversation, options) {
  return conversation.isPair ? personAvatar(chat.person(conversation.partner), options) : groupAvatar(conversation);
}

export function titleOf(chat, conversation) {
  return conversation.isPair ? chat.person(conversation.partner).display : conversation.title ?? t("newGroup");
}

"""#))

    private static let _js_ui_composer_js = EmbeddedFile(path: "js/ui/composer.js", content: .text(#"""
// The composer: a text field that grows, pictures from a button, the clipboard or a drop, and a
// draft for each conversation.

import { t } from "../i18n.js";
import { h, toast } from "./dom.js";
import { icon } from "./icons.js";
import { ACCEPTED, preparePicture } from "./pictures.js";

const LONGEST = 8000;
const MOST_PICTURES = 9;

/**
 * `send(conversation, {text, file, dimensions})` resolves when the message is stored.
 * `wrote(conversation)` is called when all messages are stored. An action belongs to the
 * conversation that was open when it began.
 */
export function makeComposer({ send, wrote }) {
  const drafts = new Map(); // conversation → {conversation, text, pictures, placeholder, sending}
  let shown = null; // the draft on the screen
  let attaching = null; // the draft that the file dialog was opened for
  let preparing = Promise.resolve(); // prepares one picture at a time, because decoded pictures are large

  const input = h("textarea", { id: "message", rows: 1, dir: "auto", "aria-label": t("message"), enterkeyhint: "send", oninput: changed, onkeydown: key, onpaste: paste });
  const file = h("input", { type: "file", id: "file", accept: ACCEPTED.join(","), multiple: true, hidden: true, tabindex: "-1", onchange: () => {
    take(attaching ?? shown, [...file.files]);
    attaching = null;
    file.value = "";
  } });
  const button = h("button", { type: "submit", class: "send", id: "send", "aria-label": t("send"), title: t("send"), disabled: true }, icon("send"));
  const tray = h("div", { class: "tray", id: "tray", hidden: true });
  const element = h("form", { class: "composer", onsubmit: submit }, tray,
    h("div", { class: "composer-row" },
      h("button", { type: "button", class: "icon-button", id: "attach", "aria-label": t("attach"), title: t("attach"), onclick: () => {
        attaching = shown;
        file.click();
      } }, icon("picture")),
      file, input, button));

  function changed() {
    if (shown) shown.text = input.value;
    input.rows = 1;
    // The number of wrapped lines, up to six. Uses `rows`, because the CSP forbids style
    // attributes.
    const line = parseFloat(getComputedStyle(input).lineHeight) || 22;
    const padding = input.offsetHeight - line;
    input.rows = Math.max(1, Math.min(6, Math.round((input.scrollHeight - padding) / line)));
    button.disabled = input.value.trim() === "" && !shown?.pictures.length;
  }

  function key(event) {
    // Enter selects a word while an input method composes. On phones, Enter inserts a new line.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229 || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    submit();
  }

  function submit(event) {
    event?.preventDefault();
    const text = input.value.trim();
    if ([...text].length > LONGEST) return toast(t("tooLong"));
    if (!shown || (!text && shown.pictures.length === 0)) return;
    const draft = shown;
    const pictures = draft.pictures;
    draft.pictures = [];
    input.value = "";
    renderTray();
    changed();
    input.focus();
    // Later messages wait for pictures in preparation, which preserves the order.
    draft.sending = draft.sending.then(() => sendAll(draft.conversation, text, pictures)).catch((error) => console.warn(error));
  }

  async function sendAll(conversation, text, pictures) {
    const ready = (await Promise.all(pictures.map((picture) => picture.prepared))).filter(Boolean);
    // The text is the caption of the last picture.
    for (const [index, { file, dimensions }] of ready.entries()) await send(conversation, { text: index === ready.length - 1 ? text : "", file, dimensions });
    if (ready.length === 0 && text) await send(conversation, { text });
    for (const picture of pictures) forget(picture);
    wrote(conversation);
  }

  /**
   * Adds files to a draft. `prepared` resolves to {file, dimensions}, or to null if the file cannot
   * be sent.
   */
  function take(draft, files) {
    for (const chosen of files) {
      if (draft.pictures.length >= MOST_PICTURES) {
        toast(t("tooManyPictures", { n: MOST_PICTURES }));
        break;
      }
      const picture = { name: chosen.name, url: null };
      picture.prepared = preparing.then(() => prepare(draft, picture, chosen));
      preparing = picture.prepared;
      draft.pictures.push(picture);
    }
    if (draft === shown) input.focus();
    rendered(draft);
  }

  async function prepare(draft, picture, chosen) {
    let prepared = null;
    try {
      prepared = await preparePicture(chosen);
      if (draft.pictures.includes(picture)) picture.url = URL.createObjectURL(prepared.file);
    } catch (error) {
      toast(t(error.message));
      draft.pictures = draft.pictures.filter((each) => each !== picture);
    }
    rendered(draft);
    return prepared;
  }

  function forget(picture) {
    if (picture.url) URL.revokeObjectURL(picture.url);
  }

  function paste(event) {
    const files = [...(event.clipboardData?.files ?? [])].filter((each) => ACCEPTED.includes(each.type));
    if (files.length === 0) return;
    event.preventDefault();
    take(shown, files);
  }

  function rendered(draft) {
    if (draft !== shown) return;
    renderTray();
    changed();
  }

  function renderTray() {
    const draft = shown;
    const { pictures } = draft;
    tray.hidden = pictures.length === 0;
    tray.replaceChildren(...pictures.map((picture) => h("div", { class: "tray-item" },
      picture.url ? h("img", { src: picture.url, alt: picture.name ?? t("photo") })
        : h("span", { class: "tray-waiting", role: "status", "aria-label": t("preparing") }, h("span", { class: "spinner" })),
      h("button", { type: "button", class: "tray-remove", "aria-label": t("remove"), onclick: () => {
        draft.pictures = draft.pictures.filter((each) => each !== picture);
        forget(picture);
        rendered(draft);
      } }, icon("close")))));
    input.placeholder = pictures.length > 0 ? t("caption") : draft.placeholder;
  }

  /** Accepts pictures dropped on `area`. */
  function acceptDrops(area) {
    let depth = 0;
    const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
    const show = (by) => {
      depth = Math.max(0, depth + by);
      area.classList.toggle("dropping", depth > 0);
    };
    area.addEventListener("dragenter", (event) => carriesFiles(event) && (event.preventDefault(), show(1)));
    area.addEventListener("dragleave", (event) => carriesFiles(event) && show(-1));
    area.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
    area.addEventListener("drop", (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      show(-depth);
      if (shown) take(shown, [...event.dataTransfer.files]);
    });
  }

  return {
    element, acceptDrops,
    open(id, name) {
      if (!drafts.has(id)) drafts.set(id, { conversation: id, text: "", pictures: [], sending: Promise.resolve() });
      shown = drafts.get(id);
      shown.placeholder = t("messageTo", { name });
      input.value = shown.text;
      renderTray();
      changed();
      if (matchMedia("(pointer: fine)").matches) input.focus();
    },
  };
}

"""#))

    private static let _js_ui_conversation_js = EmbeddedFile(path: "js/ui/conversation.js", content: .text(#"""
// The conversation pane: the header, the messages and the composer.

import { t } from "../i18n.js";
import { avatarOf, titleOf } from "./avatar.js";
import { makeComposer } from "./composer.js";
import { h } from "./dom.js";
import { icon, logo } from "./icons.js";
import { makeThread } from "./thread.js";

export function makeConversationPane(chat, pictures, { back }) {
  let current = null;
  const thread = makeThread(chat, pictures);
  const composer = makeComposer({
    send: (conversation, message) => chat.write(conversation, message),
    wrote: (conversation) => conversation === current && thread.wrote(),
  });
  const heading = h("div", { class: "peer" });
  const conversation = h("section", { class: "conversation", hidden: true, "aria-label": t("messages") },
    h("header", { class: "bar" },
      h("button", { type: "button", class: "icon-button back", id: "back", "aria-label": t("back"), onclick: back }, icon("back")), heading),
    thread.element, composer.element,
    h("div", { class: "drop-hint", "aria-hidden": "true" }, h("span", {}, t("dropHere"))));
  const nothing = h("div", { class: "empty welcome" }, h("span", { class: "brand-mark large" }, logo()), h("strong", {}, t("pickChat")), h("p", {}, t("pickChatHint")));
  const element = h("main", { class: "pane" }, conversation, nothing);
  composer.acceptDrops(conversation);

  function renderHeading() {
    const found = chat.conversations.get(current);
    if (!found) return;
    const status = found.isPair ? presence(chat.person(found.partner)) : members(found);
    heading.replaceChildren(avatarOf(chat, found),
      h("div", { class: "who" }, h("h2", {}, titleOf(chat, found)), h("span", { class: `sub${status.online ? " online" : ""}` }, status.text)));
  }

  const presence = (person) => ({ online: person.online, text: t(person.online ? "online" : "offline") });
  function members(found) {
    const online = found.members.filter((member) => chat.person(member.user).online).length;
    return { online: false, text: t(online > 0 ? "membersOnline" : "members", { n: found.members.length, online }) };
  }

  for (const name of ["people", "conversations", "connection"]) chat.on(name, renderHeading);

  return {
    element,
    open(id) {
      current = chat.conversations.has(id) ? id : null;
      conversation.hidden = current === null;
      nothing.hidden = current !== null;
      thread.open(current);
      if (current === null) return;
      renderHeading();
      composer.open(current, titleOf(chat, chat.conversations.get(current)));
    },
  };
}

"""#))

    private static let _js_ui_describe_js = EmbeddedFile(path: "js/ui/describe.js", content: .text(#"""
// Events as text: changes, and previews of messages.

import { locale, t } from "../i18n.js";

const LONGEST = 200;
const list = new Intl.ListFormat(locale, { type: "conjunction" });

/** The text of a change: users joined, or the group was named. */
export function changeText(chat, { kind, body, sender }) {
  switch (kind) {
    case "member.join": {
      const users = Array.isArray(body?.users) ? body.users : [body?.user ?? sender];
      return t("joined", { name: list.format(users.map((user) => chat.person(user).display)) });
    }
    case "conversation.set": return t("groupMade", { name: chat.person(sender).display, title: body?.title ?? "" });
    default: return t("unknownEvent");
  }
}

/** The last message of a conversation in one line. `mine`: the message is in the outbox. */
export function previewText(chat, conversation, message, mine) {
  if (!message) return "";
  if (!mine && message.n == null) return changeText(chat, message);
  const text = messageText(message);
  if (mine || message.sender === chat.user.id) return `${t("you")}: ${text}`;
  return conversation.isPair ? text : `${chat.person(message.sender).display}: ${text}`;
}

function messageText({ kind, body }) {
  const words = String(body?.text ?? "").slice(0, LONGEST);
  if (kind === "text") return words;
  return kind === "image" ? `🖼 ${words || t("photo")}` : t("unknownEvent");
}

"""#))

    private static let _js_ui_dialogs_js = EmbeddedFile(path: "js/ui/dialogs.js", content: .text(#"""
// The dialogs for a new chat and a new group.

import { errorText, t } from "../i18n.js";
import { personAvatar } from "./avatar.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

const SEARCH_DELAY = 200; // ms between the last key and the request

/** Selects one user. Calls `chosen(conversation)` with the pair conversation. */
export function newChatDialog(chat, chosen) {
  const dialog = openDialog(t("newChat"));
  const pick = attempt(dialog, async (person) => {
    const id = await chat.openPair(person.id);
    dialog.element.close();
    chosen(id);
  });
  dialog.body.append(...peoplePicker(chat, dialog, { pick }));
}

/** Selects several users and a title. */
export function newGroupDialog(chat, chosen) {
  const dialog = openDialog(t("newGroup"));
  const members = new Map();
  const title = h("input", { name: "title", maxlength: 100, required: true, placeholder: t("groupTitle"), "aria-label": t("groupTitle"), autocomplete: "off", oninput: update });
  const chips = h("div", { class: "chips", "aria-live": "polite" });
  const create = h("button", { type: "button", class: "primary wide", disabled: true, onclick: attempt(dialog, async () => {
    const id = await chat.createGroup(title.value.trim(), [...members.keys()]);
    dialog.element.close();
    chosen(id);
  }) }, t("createGroup"));

  function update() {
    create.disabled = members.size === 0 || title.value.trim() === "";
    chips.replaceChildren(...[...members.values()].map((person) => h("button", { type: "button", class: "chip", "aria-label": `${t("remove")} ${person.display}`, onclick: () => toggle(person) },
      person.display, icon("close"))));
  }
  function toggle(person) {
    if (!members.delete(person.id)) members.set(person.id, person);
    update();
    picker.refresh();
  }
  const picker = peoplePicker(chat, dialog, { pick: toggle, isPicked: (id) => members.has(id) });
  dialog.body.append(title, chips, ...picker);
  dialog.element.append(h("footer", {}, create));
  title.focus();
}

function openDialog(title) {
  const body = h("div", { class: "dialog-body" });
  const problem = h("p", { class: "form-error", role: "alert" });
  const close = () => element.close();
  const element = h("dialog", { class: "card sheet", "aria-label": title, onclose: () => element.remove(), onclick: (event) => event.target === element && close() },
    h("header", {}, h("h2", {}, title), h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: close }, icon("close"))), body, problem);
  document.body.append(element);
  element.showModal();
  return { element, body, problem };
}

/** Runs an action of a dialog, which shows a failure. */
function attempt(dialog, action) {
  return async (...values) => {
    dialog.problem.textContent = "";
    try {
      await action(...values);
    } catch (error) {
      dialog.problem.textContent = errorText(error);
    }
  };
}

/** A search field and the users found. With `isPicked`, the rows are toggles. */
function peoplePicker(chat, dialog, { pick, isPicked }) {
  const input = h("input", { type: "search", id: "find-people", placeholder: t("findPeople"), "aria-label": t("findPeople"), autocomplete: "off", oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(ask, SEARCH_DELAY);
  } });
  const list = h("ul", { class: "people", "aria-label": t("findPeople") });
  let timer = 0;
  let turn = 0; // counts requests, so that late answers are ignored
  let query = "";
  let found = [];
  let next = null; // the token of the next page

  const ask = attempt(dialog, async () => {
    const mine = ++turn;
    const wanted = input.value.trim();
    const page = await chat.findPeople(wanted);
    if (mine !== turn) return;
    [query, found, next] = [wanted, page.users, page.next];
    list.scrollTop = 0;
    refresh();
  });

  const more = attempt(dialog, async () => {
    const mine = ++turn;
    const page = await chat.findPeople(query, next);
    if (mine !== turn) return;
    const known = new Set(found.map((person) => person.id));
    const first = found.length;
    [found, next] = [[...found, ...page.users.filter((person) => !known.has(person.id))], page.next];
    refresh();
    list.children[first]?.querySelector("button")?.focus({ preventScroll: true });
  });

  function refresh() {
    const shown = found.map((person) => {
      const picked = isPicked?.(person.id) ?? false;
      return h("li", {}, h("button", { type: "button", class: `person${picked ? " picked" : ""}`, "data-user": person.name, "aria-pressed": isPicked ? String(picked) : null, onclick: () => pick(person) },
        personAvatar(chat.person(person.id)), h("span", { class: "who" }, h("strong", {}, person.display), h("span", { class: "sub" }, `@${person.name}`)),
        picked ? icon("check") : null));
    });
    if (next) shown.push(h("li", { class: "more" }, h("button", { type: "button", class: "link", id: "more-people", onclick: more }, t("morePeople"))));
    list.replaceChildren(...(shown.length === 0 ? [h("li", { class: "nobody" }, t("nobody"))] : shown));
  }

  ask();
  return Object.assign([h("div", { class: "search" }, icon("search"), input), list], { refresh });
}

"""#))

    private static let _js_ui_dom_js = EmbeddedFile(path: "js/ui/dom.js", content: .text(#"""
// Creates elements. Text is always inserted as text, never parsed as markup.

/**
 * h("button", { class: "primary", onclick: f, "aria-label": "…" }, "text", element, …)
 * Properties that start with "on" are listeners. An attribute is omitted if its value is false,
 * null or undefined, and empty if it is true.
 */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Sets the children of `parent` to `wanted`. Moves only misplaced elements, so that focus, scroll
 * position and animations are kept.
 */
export function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Shows a short message at the bottom of the page for some seconds. */
export function toast(text) {
  const line = h("div", { class: "toast", role: "alert" }, text);
  document.body.append(line);
  setTimeout(() => line.classList.add("leaving"), 4000);
  setTimeout(() => line.remove(), 4400);
}

"""#))

    private static let _js_ui_format_js = EmbeddedFile(path: "js/ui/format.js", content: .text(#"""
// Formats times, names and links.

import { h } from "./dom.js";
import { locale, t } from "../i18n.js";

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(locale, { weekday: "long" });
const shortDate = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });
const longDate = new Intl.DateTimeFormat(locale, { weekday: "long", month: "long", day: "numeric" });
const yearDate = new Intl.DateTimeFormat(locale, { year: "numeric", month: "short", day: "numeric" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "medium" });

const dayOf = (time) => new Date(time).setHours(0, 0, 0, 0);
const daysAgo = (time) => Math.round((dayOf(Date.now()) - dayOf(time)) / 86_400_000);

export const sameDay = (a, b) => dayOf(a) === dayOf(b);
export const clockTime = (time) => clock.format(time);
export const fullTime = (time) => full.format(time);

/** The time of a chat in the list: the time of day today, the day otherwise. */
export function listTime(time) {
  const days = daysAgo(time);
  if (days <= 0) return clock.format(time);
  if (days === 1) return t("yesterday");
  if (days < 7) return weekday.format(time);
  return days < 300 ? shortDate.format(time) : yearDate.format(time);
}

/** The label of a separator between days. */
export function dayTitle(time) {
  const days = daysAgo(time);
  if (days <= 0) return t("today");
  if (days === 1) return t("yesterday");
  return days < 300 ? longDate.format(time) : yearDate.format(time);
}

/** The initials of a name: one or two letters, or one character of a Chinese name. */
export function initials(name) {
  const parts = name.trim().split(/\s+/u).filter(Boolean);
  const first = [...(parts[0] ?? "?")][0];
  const last = parts.length > 1 ? [...parts.at(-1)][0] : "";
  return (/\p{Script=Han}/u.test(first) ? first : first + last).toUpperCase();
}

// A candidate for a link. The URL parser and a list of two schemes decide whether it becomes one.
const LINK = /\bhttps?:\/\/[^\s<>"'`\u3000-\u303f\uff00-\uffef]+/giu;
const count = (text, character) => text.split(character).length - 1;
const TRAILING = /[.,;:!?)\]}'"]+$/u;

/** The nodes of a text, with links for its http and https URLs. */
export function linkify(text) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(LINK)) {
    let shown = match[0];
    // A closing bracket belongs to the link only if the link contains the opening one.
    while (TRAILING.test(shown) && !(shown.endsWith(")") && count(shown, "(") >= count(shown, ")"))) shown = shown.slice(0, -1);
    const target = safeLink(shown);
    if (!target) continue;
    nodes.push(text.slice(at, match.index), h("a", { href: target, target: "_blank", rel: "noopener noreferrer nofollow" }, shown));
    at = match.index + shown.length;
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

function safeLink(text) {
  try {
    const url = new URL(text);
    return (url.protocol === "http:" || url.protocol === "https:") && url.hostname ? url.href : null;
  } catch {
    return null;
  }
}

/** Whether a message consists of a few emoji only, which are shown large. */
export function isJumbo(text) {
  return text.length <= 24 && /^(?:\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic}|\p{Emoji_Modifier})*\s*){1,3}$/u.test(text);
}

"""#))

    private static let _js_ui_icons_js = EmbeddedFile(path: "js/ui/icons.js", content: .text(#"""
// Line icons, 24 × 24, and the logo.

import { svg } from "./dom.js";

const PATHS = {
  back: ["M15 5l-7 7 7 7"],
  chat: ["M20 11.500a7.5 7.5 0 0 1-7.5 7.500H5l1.7-2.900A7.5 7.5 0 1 1 20 11.500Z", "M12.5 8.500v6M9.5 11.500h6"],
  group: ["M9 11a3.250 3.250 0 1 0 0-6.500A3.250 3.250 0 0 0 9 11Z", "M3 19c.3-3.2 2.7-5 6-5s5.7 1.8 6 5", "M15.5 4.900a3 3 0 0 1 0 5.800M17.5 14.600c2 .6 3.2 2.1 3.5 4.4"],
  signOut: ["M14 4.500H7A2.5 2.5 0 0 0 4.5 7v10A2.5 2.5 0 0 0 7 19.500h7", "M10.5 12H20M16.5 8.5 20 12l-3.5 3.5"],
  search: ["M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16.2 16.2 20.5 20.5"],
  picture: ["M6.5 4.500h11a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-11a2 2 0 0 1-2-2v-11a2 2 0 0 1 2-2Z", "m5 17 4.5-5 3.5 3.5 2.5-2.5 4 4", "M15.250 9.500a.75.75 0 1 0 0-1.5.75.75 0 0 0 0 1.500Z"],
  send: ["M5 12h6.500M4.5 4.800c5 1.4 10.5 3.9 15.5 7.2-5 3.3-10.5 5.8-15.5 7.200L7 12 4.5 4.800Z"],
  close: ["M6 6l12 12M18 6 6 18"],
  check: ["M5 12.500l4.5 4.500L19 7.5"],
  down: ["M12 5v14M6 13l6 6 6-6"],
  up: ["M12 19V5M6 11l6-6 6 6"],
  eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z", "M12 14.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
  download: ["M12 4v11M7 10.500l5 5 5-5M5 20h14"],
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" }, PATHS[name].map((d) => svg("path", { d })));
}

/** The delivery state of an own message: a clock, one tick or two ticks. */
export function ticks(state) {
  const paths = state === "waiting" ? ["M8 1.500a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.500V8l2.3 1.5"]
    : state === "read" ? ["M1 8.5 4.2 11.7 10.5 4.5", "M7.3 11.200l.6.500L14.5 4.5"] : ["M3 8.500l3.3 3.2 6.5-7.2"];
  return svg("svg", { viewBox: "0 0 16 16", class: "ticks", "aria-hidden": "true" }, paths.map((d) => svg("path", { d })));
}

/** The logo: a swift in flight. The style sheet sets its colors. */
export function logo(className = "logo") {
  return svg("svg", { viewBox: "0 0 64 64", class: className, "aria-hidden": "true" },
    svg("path", { d: SWIFT, transform: "rotate(32 32 33)" }));
}

// A swift seen from below, rotated by the logo.
const SWIFT = "M32 14C33.6 14 34.8 15.6 35.2 18.2C45 18.6 55 26 61 41C53 33 45 29.6 36 29.5C35.6 34 34.8 38.5 34 42.5L38.5 55L32 48L25.5 55L30 42.5C29.2 38.5 28.4 34 28 29.5C19 29.6 11 33 3 41C9 26 19 18.6 28.8 18.2C29.2 15.6 30.4 14 32 14Z";

"""#))

    private static let _js_ui_jumps_js = EmbeddedFile(path: "js/ui/jumps.js", content: .text(#"""
// The buttons that lead to the newest message and back to the first unread one, each with the
// number of unread messages in its direction.

import { t } from "../i18n.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

const MOST = 999;

export function makeJumps({ toEnd, toUnread }) {
  const down = button("jump", "down", toEnd);
  const up = button("to-unread", "up", toUnread);

  function button(id, name, act) {
    return h("button", { type: "button", class: "jump", id, hidden: true, onclick: act }, icon(name), h("span", { class: "badge", hidden: true }));
  }

  function show(element, hidden, count, label) {
    const badge = element.querySelector(".badge");
    element.hidden = hidden;
    badge.hidden = count === 0;
    badge.textContent = count > MOST ? `${MOST}+` : String(count);
    element.setAttribute("aria-label", count === 0 ? label : `${label} (${t("unread", { n: count })})`);
    element.title = label;
  }

  return {
    element: h("div", { class: "jumps" }, up, down),
    /** `above`, `below`: unread messages out of sight. */
    update({ above, below, atEnd }) {
      show(up, above === 0, above, t("toUnread"));
      show(down, atEnd, below, t("toBottom"));
    },
  };
}

"""#))

    private static let _js_ui_lightbox_js = EmbeddedFile(path: "js/ui/lightbox.js", content: .text(#"""
// A picture over the whole page. Escape, the close button or a click outside the picture closes it.

import { t } from "../i18n.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

export function showLightbox(url, { label, caption }) {
  const close = () => dialog.close();
  const dialog = h("dialog", { class: "lightbox", "aria-label": label, onclose: () => dialog.remove(), onclick: (event) => {
    if (!event.target.closest("img, a, button")) close();
  } },
  h("div", { class: "lightbox-bar" },
    h("span", { class: "lightbox-title" }, label),
    h("a", { class: "icon-button", href: url, download: "picture", "aria-label": t("download") }, icon("download")),
    h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: close }, icon("close"))),
  h("img", { src: url, alt: label }),
  caption ? h("p", { class: "lightbox-caption" }, caption) : null);
  document.body.append(dialog);
  dialog.showModal();
}

"""#))

    private static let _js_ui_message_js = EmbeddedFile(path: "js/ui/message.js", content: .text(#"""
// The elements of a conversation: messages and changes.

import { errorText, t } from "../i18n.js";
import { hueOf, personAvatar } from "./avatar.js";
import { changeText } from "./describe.js";
import { h } from "./dom.js";
import { clockTime, fullTime, isJumbo, linkify } from "./format.js";
import { ticks } from "./icons.js";
import { showLightbox } from "./lightbox.js";

/** The maximum size of a picture in a bubble. A click shows the full size. */
const WIDEST = 340;
const TALLEST = 360;

/**
 * A message: {key, mine, sender, kind, body, at, state, entry, first, last, named}
 * state: "waiting" | "failed" | "sent" | "read" for own messages; first, last: of a run by the same
 * sender; named: show the sender's name.
 */
export function messageElement(message, context) {
  const { mine, kind, body, first, last, state } = message;
  const person = context.chat.person(message.sender);
  const text = kind === "text" ? String(body?.text ?? "") : String(body?.text ?? "");
  const jumbo = kind === "text" && isJumbo(text);
  const bubble = h("div", { class: `bubble${jumbo ? " jumbo" : ""}${kind === "image" ? " picture" : ""}` },
    message.named && first ? h("span", { class: `sender hue-${hueOf(person.id)}` }, person.display) : null,
    kind === "image" ? picture(message, person, context) : null,
    kind === "text" || text ? h("p", { class: "text", dir: "auto" }, linkify(text)) : null,
    kind !== "text" && kind !== "image" ? h("p", { class: "text unknown" }, t("unknownEvent")) : null,
    h("span", { class: "meta" }, h("time", { datetime: new Date(message.at).toISOString(), title: fullTime(message.at) }, clockTime(message.at)), mark(state)));

  return h("div", {
    class: `message ${mine ? "mine" : "theirs"}${first ? " first" : ""}${last ? " last" : ""}`, role: "listitem",
    "data-key": message.key, "data-state": state ?? null, "data-seq": message.seq ?? null, "data-n": message.n ?? null,
  },
  message.named ? (last ? personAvatar(person, { presence: false }) : h("span", { class: "avatar-space" })) : null,
  h("div", { class: "column" }, bubble, state === "failed" ? failure(message, context) : null));
}

function mark(state) {
  if (!state) return null;
  const words = { waiting: "pending", sent: "sent", read: "readMark", failed: "failed" }[state];
  return h("span", { class: `mark mark-${state}`, role: "img", "aria-label": t(words), title: t(words) }, state === "failed" ? "!" : ticks(state));
}

function failure({ entry }, { chat }) {
  return h("div", { class: "failure", role: "alert" }, h("span", {}, `${t("failed")}. ${errorText(entry.error)}`),
    h("button", { type: "button", class: "link", onclick: () => chat.retry(entry.id) }, t("tryAgain")),
    h("button", { type: "button", class: "link", onclick: () => chat.discard(entry.id) }, t("discard")));
}

function picture(message, person, { pictures }) {
  const { body, entry } = message;
  const { width, height } = body?.width ? body : entry?.dimensions ?? { width: 320, height: 240 };
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  const label = t("image", { name: person.display });
  // Sets width and height before the picture is loaded, so that the layout does not change.
  const image = h("img", { alt: label, width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)), draggable: "false" });
  const button = h("button", { type: "button", class: "thumb loading", "aria-label": t("openImage"), onclick: () => {
    if (image.src && !button.classList.contains("broken")) showLightbox(image.src, { label, caption: body?.text });
    else load();
  } }, image);
  image.addEventListener("load", () => button.classList.remove("loading", "broken"));
  image.addEventListener("error", broken);

  function broken() {
    button.classList.remove("loading");
    button.classList.add("broken");
    button.title = t("imageFailed");
  }
  function load() {
    button.classList.add("loading");
    const url = entry?.file ? Promise.resolve(localURL(entry)) : pictures.url(String(body?.blob));
    url.then((found) => { image.src = found; }, broken);
  }
  load();
  return button;
}

/** The object URL of a picture in the outbox. */
const localURLs = new WeakMap();
function localURL(entry) {
  if (!localURLs.has(entry.file)) localURLs.set(entry.file, URL.createObjectURL(entry.file));
  return localURLs.get(entry.file);
}

/** A change, which is centered and has no bubble. */
export function changeElement(event, { chat }) {
  return h("div", { class: "change", role: "listitem", "data-seq": event.seq }, h("span", {}, changeText(chat, event)));
}

"""#))

    private static let _js_ui_pictures_js = EmbeddedFile(path: "js/ui/pictures.js", content: .text(#"""
// Pictures: downloaded with the token and cached as object URLs; prepared before they are sent.

import { downloadBlob } from "../chat/api.js";

const KEPT = 120;
export const MAXIMUM_BYTES = 10 * 1024 * 1024;
const LONGEST_SIDE = 2560; // of a picture that is scaled down
export const ACCEPTED = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The object URLs of blobs by hash. The least recently used ones are revoked. */
export class Pictures {
  #urls = new Map(); // sha256 → Promise of a URL

  constructor(token) {
    this.token = token;
  }

  url(sha256) {
    let found = this.#urls.get(sha256);
    if (found) this.#urls.delete(sha256);
    else {
      found = downloadBlob(this.token, sha256).then((blob) => URL.createObjectURL(blob));
      found.catch(() => this.#urls.delete(sha256)); // the next request tries again
    }
    this.#urls.set(sha256, found);
    if (this.#urls.size > KEPT) this.#forget(this.#urls.keys().next().value);
    return found;
  }

  #forget(sha256) {
    this.#urls.get(sha256)?.then((url) => URL.revokeObjectURL(url), () => {});
    this.#urls.delete(sha256);
  }

  close() {
    for (const sha256 of [...this.#urls.keys()]) this.#forget(sha256);
  }
}

/**
 * Validates a file. Returns {file, dimensions}, or throws the key of an error text. Scales down a
 * photo that is too large.
 */
export async function preparePicture(file) {
  if (!ACCEPTED.includes(file.type)) throw new Error("notAPicture");
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error("notAPicture");
  }
  const dimensions = { width: bitmap.width, height: bitmap.height };
  try {
    if (file.size <= MAXIMUM_BYTES) return { file, dimensions };
    if (file.type === "image/gif") throw new Error("tooLarge"); // scaling would lose the animation
    return await shrink(bitmap);
  } finally {
    bitmap.close();
  }
}

async function shrink(bitmap) {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const file = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.88));
  if (!file || file.size > MAXIMUM_BYTES) throw new Error("tooLarge");
  return { file, dimensions: { width: canvas.width, height: canvas.height } };
}

"""#))

    private static let _js_ui_sidebar_js = EmbeddedFile(path: "js/ui/sidebar.js", content: .text(#"""
// The list of chats: name, last message, time and unread count.

import { t } from "../i18n.js";
import { folded } from "../chat/text.js";
import { avatarOf, personAvatar, titleOf } from "./avatar.js";
import { previewText } from "./describe.js";
import { arrange, h } from "./dom.js";
import { listTime } from "./format.js";
import { icon, logo } from "./icons.js";
import { connectionPill } from "./status.js";

/** actions: {select(id), newChat(), newGroup(), signOut()} */
export function makeSidebar(chat, actions) {
  const rows = new Map(); // conversation id → {button, signature}
  let selected = null;

  const me = h("div", { class: "me" });
  const search = h("input", { type: "search", id: "search", placeholder: t("search"), "aria-label": t("search"), oninput: render, autocomplete: "off" });
  const list = h("ul", { class: "chats", id: "chats", "aria-label": t("chats"), onkeydown: moveFocus });
  const empty = h("div", { class: "empty small" });
  const element = h("aside", { class: "sidebar", "aria-label": t("chats") },
    h("header", { class: "bar" }, h("span", { class: "brand-mark small" }, logo()), h("h1", {}, t("chats")),
      h("button", { type: "button", class: "icon-button", id: "new-chat", title: t("newChat"), "aria-label": t("newChat"), onclick: actions.newChat }, icon("chat")),
      h("button", { type: "button", class: "icon-button", id: "new-group", title: t("newGroup"), "aria-label": t("newGroup"), onclick: actions.newGroup }, icon("group"))),
    h("div", { class: "search" }, icon("search"), search),
    connectionPill(chat),
    list, empty,
    h("footer", { class: "bar foot" }, me,
      h("button", { type: "button", class: "icon-button", id: "sign-out", title: t("signOut"), "aria-label": t("signOut"), onclick: actions.signOut }, icon("signOut"))));

  function render() {
    const person = chat.person(chat.user.id);
    const online = chat.connection.name === "online";
    me.replaceChildren(personAvatar({ ...person, online }), h("div", { class: "who" }, h("strong", {}, person.display), h("span", { class: "sub" }, `@${person.name}`)));

    const wanted = folded(search.value.trim());
    const shown = chat.sortedConversations().filter((conversation) => {
      if (!wanted) return true;
      const people = conversation.members.map((member) => chat.person(member.user));
      const names = [titleOf(chat, conversation), ...people.flatMap((person) => [`@${person.name}`, person.display])];
      return names.some((name) => folded(name).includes(wanted));
    });
    arrange(list, shown.map((conversation) => row(conversation)));
    for (const id of rows.keys()) if (!chat.conversations.has(id)) rows.delete(id);
    renderEmpty(shown.length, wanted);
  }

  function renderEmpty(count, wanted) {
    empty.hidden = count > 0;
    if (count > 0) return;
    if (!chat.loaded) empty.replaceChildren(...Array.from({ length: 5 }, () => h("div", { class: "skeleton" }, h("span", {}), h("span", {}))));
    else if (wanted) empty.replaceChildren(h("p", {}, t("noMatch")));
    else {
      empty.replaceChildren(h("strong", {}, t("noChats")), h("p", {}, t("noChatsHint")),
        h("button", { type: "button", class: "primary", onclick: actions.newChat }, t("newChat")));
    }
  }

  function row(conversation) {
    const title = titleOf(chat, conversation);
    const waiting = chat.outbox.of(conversation.id).at(-1);
    const last = conversation.last;
    const online = conversation.isPair && chat.person(conversation.partner).online;
    const preview = previewText(chat, conversation, waiting ?? last, Boolean(waiting));
    const time = waiting?.at ?? last?.at ?? conversation.updatedAt;
    const unread = conversation.unread;
    const current = conversation.id === selected;
    const signature = JSON.stringify([title, preview, listTime(time), unread, online, current, waiting?.state]);
    const known = rows.get(conversation.id);
    if (known?.signature === signature) return known.item;

    const item = known?.item ?? h("li", {});
    const button = h("button", {
      type: "button", class: `chat${current ? " current" : ""}${unread > 0 ? " unread" : ""}`, "data-conversation": conversation.id,
      "aria-current": current ? "true" : null, onclick: () => actions.select(conversation.id),
    },
    avatarOf(chat, conversation),
    h("span", { class: "chat-title" }, title),
    h("time", { class: "chat-time" }, time ? listTime(time) : ""),
    h("span", { class: `chat-preview${waiting?.state === "failed" ? " failed" : ""}` }, preview),
    unread > 0 ? h("span", { class: "badge", "aria-label": t("unread", { n: unread }) }, unread > 99 ? "99+" : String(unread)) : null);
    const focused = item.contains(document.activeElement);
    item.replaceChildren(button);
    if (focused) button.focus();
    rows.set(conversation.id, { item, signature });
    return item;
  }

  function moveFocus(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  for (const name of ["conversations", "people", "connection"]) chat.on(name, render);
  render();
  return {
    element,
    select(id) {
      selected = id;
      render();
    },
  };
}

"""#))

    private static let _js_ui_status_js = EmbeddedFile(path: "js/ui/status.js", content: .text(#"""
// The state of the connection, which is hidden while the page is connected.

import { t } from "../i18n.js";
import { h } from "./dom.js";

/** The time in ms after which "connecting" is shown. */
const SHOW_DELAY = 900;

export function connectionPill(chat) {
  const text = h("span", { class: "pill-text" });
  const retry = h("button", { type: "button", class: "link", onclick: () => chat.retryNow() }, t("retry"));
  const pill = h("div", { class: "pill quiet", id: "connection", role: "status", "aria-live": "polite" }, h("span", { class: "pill-dot" }), text, retry);
  let ticking = 0;
  let quiet = 0;

  function render() {
    const { name, retryAt } = chat.connection;
    clearInterval(ticking);
    clearTimeout(quiet);
    pill.dataset.state = name;
    retry.hidden = name !== "waiting";
    if (name === "online") {
      text.textContent = t("connected");
      quiet = setTimeout(() => pill.classList.add("quiet"), 1500); // hides "connected" again
      return;
    }
    if (name !== "waiting") {
      text.textContent = t("connecting");
      quiet = setTimeout(() => pill.classList.remove("quiet"), SHOW_DELAY);
      return;
    }
    pill.classList.remove("quiet");
    const count = () => { text.textContent = t("waiting", { s: Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)) }); };
    count();
    ticking = setInterval(count, 500);
  }

  chat.on("connection", render);
  render();
  return pill;
}

"""#))

    private static let _js_ui_thread_js = EmbeddedFile(path: "js/ui/thread.js", content: .text(#"""
// The messages of the open conversation. Rows have keys, so that only changed ones are rendered,
// and the scroll position is kept. Opens at the first unread message. A message is read when its
// end was on the screen, in a visible page with focus (docs/chat-rules.md, 10).

import { isSame } from "../chat/conflict.js";
import { t } from "../i18n.js";
import { changeText } from "./describe.js";
import { arrange, h } from "./dom.js";
import { dayTitle, sameDay } from "./format.js";
import { makeJumps } from "./jumps.js";
import { changeElement, messageElement } from "./message.js";
import { titleOf } from "./avatar.js";
import { band, isLookedAt, rowsIn } from "./viewport.js";

const RUN = 5 * 60_000; // ms; closer messages of one sender are grouped
const NEAR = 80; // pixels from the end that count as "at the end"
const ABOVE = 48; // pixels of the previous message that remain visible above a scroll target
const UNREAD_PAGE = 200;
const MOST_UNREAD = 2000; // the maximum number of events loaded to reach the first unread message

export function makeThread(chat, pictures) {
  const rows = new Map(); // key → {element, signature}
  let conversation = null;
  let newFrom = null; // the n before the line "Unread messages"
  let isLineOld = true; // the messages below the line were read; the next unread message may move it
  let atEnd = true; // the view follows the end
  let locating = false; // the first unread message is being loaded
  let turn = 0; // counts opened conversations, so that late answers are ignored
  let resets = 0; // of the log
  let frame = 0;

  const list = h("div", { class: "messages", role: "list", "aria-label": t("messages") });
  const live = h("div", { class: "visually-hidden", "aria-live": "polite" });
  const jumps = makeJumps({ toEnd: () => toEnd(true), toUnread });
  const scroller = h("div", { class: "scroller", id: "scroller", tabindex: "0", onscroll: scrolled }, list);
  const element = h("div", { class: "thread" }, scroller, jumps.element, live);

  function open(id) {
    conversation = chat.conversations.get(id) ?? null;
    rows.clear();
    list.replaceChildren();
    live.textContent = "";
    turn += 1;
    if (conversation) begin();
  }

  /** Shows the conversation at its first unread message, or at its end. */
  function begin() {
    resets = conversation.log.resets;
    newFrom = conversation.unread > 0 ? conversation.read : null;
    isLineOld = newFrom === null;
    if (newFrom !== null && !conversation.holdsUnread) return locate();
    locating = false;
    if (!conversation.opened || conversation.log.events.length <= 1) loadOlder();
    arrive();
  }

  /** Loads the events up to the first unread message, then scrolls to it. */
  async function locate() {
    const about = conversation;
    const mine = ++turn;
    const isCurrent = () => mine === turn && about === conversation;
    const held = about.log.events.length;
    locating = true;
    render();
    while (isCurrent() && !about.holdsUnread && about.log.events.length - held < MOST_UNREAD) {
      if (!(await chat.loadOlder(about.id, Math.min(UNREAD_PAGE, Math.max(60, about.unread + 20))).catch(() => false))) break;
    }
    if (!isCurrent()) return;
    locating = false;
    arrive();
  }

  /** Scrolls to the line, or to the end. */
  function arrive() {
    atEnd = newFrom === null;
    render();
    const line = rows.get("new")?.element;
    if (line?.isConnected) scroller.scrollTop += line.getBoundingClientRect().top - scroller.getBoundingClientRect().top - ABOVE;
    atEnd = isAtEnd();
    updateJumps();
    look();
  }

  function loadOlder() {
    chat.loadOlder(conversation.id).catch(() => {});
  }

  /** `leads`: scrolls to the end, even past unread messages. */
  function render(leads = false) {
    if (!conversation) return;
    if (conversation.log.resets !== resets) return begin();
    placeLine();
    const anchor = anchorRow();
    const context = { chat, pictures };
    const wanted = [];
    const put = (key, signature, make) => {
      let row = rows.get(key);
      if (!row || row.signature !== signature) {
        row = { element: make(), signature };
        rows.set(key, row);
      }
      wanted.push(row.element);
    };

    const items = locating ? [] : itemsOf(conversation);
    put("top", String([isLoading(), conversation.canLoadOlder]), () => top());
    if (items.length === 0 && !conversation.canLoadOlder && !locating) put("empty", titleOf(chat, conversation), () => emptyState());
    let before = null;
    let hasLine = newFrom === null;
    items.forEach((item, index) => {
      const next = items[index + 1];
      if (!before || !sameDay(before.at, item.at)) {
        put(`day ${new Date(item.at).toDateString()}`, dayTitle(item.at), () => h("div", { class: "day", role: "separator" }, h("span", {}, dayTitle(item.at))));
      }
      if (!hasLine && item.n != null && item.n > newFrom && !item.mine) {
        hasLine = true;
        put("new", "new", () => h("div", { class: "new", role: "separator", id: "new-messages" }, h("span", {}, t("unreadMessages"))));
      }
      const joins = (a, b) => a && b && a.message && b.message && a.sender === b.sender && Math.abs(b.at - a.at) < RUN && sameDay(a.at, b.at);
      item.first = !joins(before, item);
      item.last = !joins(item, next);
      const sender = chat.person(item.sender).display;
      put(item.key, JSON.stringify([item.state, item.first, item.last, item.at, item.seq, item.body, sender, item.entry?.error, item.message || changeText(chat, item)]),
        () => (item.message ? messageElement(item, context) : changeElement(item, context)));
      before = item;
    });
    arrange(list, wanted);
    const shown = new Set(wanted);
    for (const [key, row] of rows) if (!shown.has(row.element)) rows.delete(key);

    // Follows the end if the view is there. Otherwise keeps the position of the first visible row.
    if (atEnd) follow(leads);
    else if (anchor?.element.isConnected) {
      const moved = anchor.element.getBoundingClientRect().top - anchor.top;
      if (moved !== 0) scroller.scrollTop += moved; // an assignment would stop a smooth scroll
    }
    if (!atEnd && isLineOld && conversation.unread > 0 && !locating) return render(); // not all new messages fit on the screen
    updateJumps();
    look();
    fillScreen();
  }

  /** Places the line above new messages that are not on the screen. */
  function placeLine() {
    if (conversation.unread === 0) isLineOld = true;
    else if (isLineOld && !(atEnd && isLookedAt(element))) {
      newFrom = conversation.read;
      isLineOld = false;
    }
  }

  /** Scrolls to the end, but not past an unseen message. */
  function follow(leads = false) {
    let by = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
    const { top } = scroller.getBoundingClientRect();
    for (let row = leads ? null : list.lastElementChild; row; row = row.previousElementSibling) {
      const above = row.getBoundingClientRect().top - top;
      if (above < 0) break;
      if (isUnseen(row)) by = Math.min(by, above - ABOVE);
    }
    if (by > 0) scroller.scrollTop += by;
    atEnd = isAtEnd();
  }

  const isUnseen = (row) => row.dataset.n !== undefined && !conversation.hasSeen(Number(row.dataset.n));
  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
  const isLoading = () => locating || Boolean(conversation.loading);

  /** The first visible row and its position. */
  function anchorRow() {
    if (atEnd) return null;
    const found = rowsIn(list, scroller.getBoundingClientRect()).find((row) => row.classList.contains("message"));
    return found && { element: found, top: found.getBoundingClientRect().top };
  }

  function itemsOf({ id, log, isPair }) {
    const me = chat.user.id;
    const delivered = new Map();
    const items = log.events.map((event) => {
      const mine = event.sender === me;
      if (mine) delivered.set(event.id, event);
      return {
        ...event, mine, message: event.n != null, key: `${event.sender} ${event.id || event.seq}`, named: !isPair && !mine,
        state: mine && event.n != null ? (conversation.isReadByOthers(event.n) ? "read" : "sent") : null,
      };
    });
    for (const entry of chat.outbox.of(id)) {
      const event = delivered.get(entry.id);
      if (event && isSame(entry, event)) continue;
      items.push({ ...entry, entry, sender: me, mine: true, message: true, key: `${me} ${entry.id}${event ? " unsent" : ""}`, named: false });
    }
    return items;
  }

  function top() {
    if (isLoading()) return h("div", { class: "top" }, h("span", { class: "spinner", role: "status", "aria-label": t("loading") }));
    if (conversation.canLoadOlder) return h("div", { class: "top" });
    return h("div", { class: "top beginning" }, t("beginning"));
  }

  function emptyState() {
    return h("div", { class: "empty" }, h("strong", {}, t("noMessages")), h("p", {}, t("noMessagesHint", { name: titleOf(chat, conversation) })));
  }

  function toEnd(smooth) {
    const near = scroller.scrollHeight - scroller.scrollTop < scroller.clientHeight * 3; // a longer way is not animated
    const passes = outOfSight().below > 0; // messages passed by the scroll are not read
    scroller.scrollTo({ top: scroller.scrollHeight, behavior: smooth && near && !passes ? "smooth" : "instant" });
  }

  /** Scrolls to the first unread message. */
  function toUnread() {
    newFrom = conversation.read;
    isLineOld = false;
    if (conversation.holdsUnread) arrive();
    else locate();
  }

  function scrolled() {
    if (!conversation || locating) return;
    atEnd = isAtEnd();
    if (scroller.scrollTop < 300) loadOlder();
    updateJumps();
    look();
  }

  /** Loads more events if those loaded do not fill the screen. */
  function fillScreen() {
    if (conversation.canLoadOlder && !isLoading() && scroller.clientHeight > 0 && scroller.scrollHeight <= scroller.clientHeight + 50) loadOlder();
  }

  const ordinals = (found) => found.filter((row) => row.dataset.n !== undefined).map((row) => Number(row.dataset.n));

  /** The ordinals of the messages whose end is on the screen. */
  function inView() {
    const shown = band(scroller);
    return ordinals(rowsIn(list, shown).filter((row) => row.getBoundingClientRect().bottom <= shown.bottom + 2));
  }

  /**
   * The numbers of unread messages above and below the screen. A message whose end is not visible
   * counts as below.
   */
  function outOfSight() {
    const first = ordinals(rowsIn(list, band(scroller)))[0];
    if (first === undefined) return { above: 0, below: 0 };
    return { above: conversation.unseen(0, first - 1), below: conversation.unseen(inView().at(-1) ?? first - 1, conversation.n) };
  }

  function updateJumps() {
    if (conversation) jumps.update({ ...outOfSight(), atEnd: atEnd || locating });
  }

  /**
   * Records the messages that the next frame shows. A message that is replaced before the frame was
   * not seen.
   */
  function look() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      if (!conversation || locating || !isLookedAt(element)) return;
      const read = conversation.see(inView());
      if (read > conversation.read) chat.markRead(conversation.id, read);
      updateJumps();
    });
  }

  document.addEventListener("visibilitychange", look);
  document.addEventListener("close", look, true); // a dialog over the page was closed
  addEventListener("focus", look);
  globalThis.visualViewport?.addEventListener("resize", look);
  // Keeps the view at the end when pictures are loaded or the size of the window changes.
  new ResizeObserver(() => {
    if (!conversation) return;
    if (atEnd) follow();
    look();
  }).observe(scroller);

  chat.on("conversation", (id) => id === conversation?.id && render());
  chat.on("people", () => render());
  chat.on("connection", ({ name }) => {
    if (name !== "online" || !conversation) return;
    if (conversation.log.events.length <= 1) begin();
    else fillScreen();
  });
  chat.on("event", (event) => {
    if (event.conv !== conversation?.id) return;
    live.textContent = `${chat.person(event.sender).display}: ${event.body?.text ?? t("photo")}`;
  });

  return {
    element, open,
    /** Scrolls to an own new message. Earlier messages are no longer new. */
    wrote() {
      newFrom = null;
      isLineOld = true;
      atEnd = true;
      render(true);
    },
  };
}

"""#))

    private static let _js_ui_viewport_js = EmbeddedFile(path: "js/ui/viewport.js", content: .text(#"""
// Finds the visible rows of a scrolling list. The rows are below each other, in document order.

/**
 * The top and bottom of the visible part of `scroller`, which a phone's keyboard may cover in part.
 */
export function band(scroller) {
  const box = scroller.getBoundingClientRect();
  const view = globalThis.visualViewport;
  const top = view?.offsetTop ?? 0;
  return { top: Math.max(box.top, top), bottom: Math.min(box.bottom, top + (view?.height ?? innerHeight)) };
}

/** The rows that overlap the band, in order. */
export function rowsIn(list, { top, bottom }) {
  const rows = list.children;
  let low = 0;
  let high = rows.length;
  while (low < high) { // the first row that ends below the upper edge
    const middle = (low + high) >> 1;
    if (rows[middle].getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  const found = [];
  for (; low < rows.length && rows[low].getBoundingClientRect().top < bottom; low++) found.push(rows[low]);
  return found;
}

/** Whether the element is in a visible page with focus, and not covered by a dialog. */
export function isLookedAt(element) {
  return document.visibilityState === "visible" && document.hasFocus() && element.getClientRects().length > 0
    && document.querySelector("dialog[open]") === null;
}

"""#))

    private static let _test_html = EmbeddedFile(path: "test.html", content: .text(#"""
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="referrer" content="no-referrer">
  <title>Socket.IO test · Apus</title>
  <link rel="icon" href="img/favicon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="css/base.css">
  <link rel="stylesheet" href="css/test.css">
  <script type="module" src="js/test.js"></script>
</head>
<body>
  <header class="head">
    <img src="img/favicon.svg" alt="" width="40" height="40">
    <div>
      <h1>Socket.IO test</h1>
      <p>Engine.IO 4, Socket.IO 5, namespace <code>/</code>, against this server. <a href="./">To the chat</a></p>
    </div>
    <p class="state" id="state" role="status" data-state="closed">disconnected</p>
  </header>
  <main>
    <section class="card controls" aria-label="Controls">
      <h2>Connection</h2>
      <fieldset class="segments" id="transport">
        <legend>Transport</legend>
        <label><input type="radio" name="transport" value="auto" checked><span>auto</span></label>
        <label><input type="radio" name="transport" value="polling"><span>polling</span></label>
        <label><input type="radio" name="transport" value="websocket"><span>websocket</span></label>
      </fieldset>
      <div class="buttons two">
        <button type="button" class="primary" id="connect">Connect</button>
        <button type="button" class="plain" id="disconnect" disabled>Disconnect</button>
      </div>
      <dl class="facts">
        <div><dt>Transport in use</dt><dd id="transport-in-use">–</dd></div>
        <div><dt>Socket id</dt><dd id="socket-id">–</dd></div>
        <div><dt>Packets in / out</dt><dd id="counts">0 / 0</dd></div>
      </dl>
      <h2>Events</h2>
      <label class="field"><span>Text</span><input id="text" value="Hello from the test page. 你好，雨燕！" autocomplete="off"></label>
      <div class="buttons two" id="actions">
        <button type="button" class="plain" id="send-text" disabled>Send text</button>
        <button type="button" class="plain" id="send-binary" disabled>Send binary</button>
        <button type="button" class="plain" id="send-ack" disabled>Text with ack</button>
        <button type="button" class="plain" id="send-binary-ack" disabled>Binary with ack</button>
        <button type="button" class="plain wide" id="send-ten" disabled>Ten acks at once</button>
      </div>
      <p class="result" id="result" role="status" aria-live="polite"></p>
    </section>
    <section class="card log" aria-label="Packets">
      <header><h2>Packets</h2>
        <label class="check"><input type="checkbox" id="heartbeats"> heartbeats</label>
        <button type="button" class="link" id="clear">Clear</button></header>
      <ol id="log" tabindex="0" aria-label="Log of packets"></ol>
    </section>
  </main>
</body>
</html>

"""#))
}
