// swift-format-ignore-file
// Written by scripts/embed-page. Do not edit it: change the files of the page and run the script.

/// The files of the page.
enum EmbeddedPage {
    static let files: [EmbeddedFile] = [
        _app_webmanifest,
        _css_page_da54f9b955835000_css,
        _css_test_c418217cb9644eda_css,
        _img_icon_192_png,
        _img_icon_512_png,
        _img_icon_svg,
        _img_maskable_192_png,
        _img_maskable_512_png,
        _img_touch_180_png,
        _index_html,
        _js_core_core_085f8f227a2e6486_js,
        _js_core_worker_d55552f449ad1b99_js,
        _js_i18n_en_2e4c54e0de852af3_js,
        _js_i18n_zh_9991380d6e17d28d_js,
        _js_main_b60eaa504809125c_js,
        _js_test_af4dddca0b9caee9_js,
        _js_views_inside_34c65eaec970d2e0_js,
        _js_views_panels_19e814f33cc984d3_js,
        _sw_js,
        _test_html,
    ]

    private static let _app_webmanifest = EmbeddedFile(path: "app.webmanifest", content: .text(#"""
{
  "name": "Apus",
  "short_name": "Apus",
  "description": "Chat with people and groups on a server of your own. 在自己的服务器上与朋友和群组聊天。",
  "description_localized": {
    "en": "Chat with people and groups on a server of your own.",
    "zh": "在自己的服务器上与朋友和群组聊天。"
  },
  "id": "/",
  "start_url": "/",
  "scope": "/",
  "lang": "en",
  "dir": "auto",
  "display": "standalone",
  "display_override": ["standalone", "minimal-ui"],
  "background_color": "#ffffff",
  "theme_color": "#2458c5",
  "launch_handler": { "client_mode": "navigate-existing" },
  "icons": [
    { "src": "/img/icon-192.png", "sizes": "192x192", "type": "image/png", "purpose": "any" },
    { "src": "/img/icon-512.png", "sizes": "512x512", "type": "image/png", "purpose": "any" },
    { "src": "/img/maskable-192.png", "sizes": "192x192", "type": "image/png", "purpose": "maskable" },
    { "src": "/img/maskable-512.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable" },
    { "src": "/img/icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any" }
  ],
  "categories": ["social"]
}

"""#))

    private static let _css_page_da54f9b955835000_css = EmbeddedFile(path: "css/page-da54f9b955835000.css", content: .text(#"""
/* Colors, sizes and fonts. Every text color has a contrast of 4.5 or more on the surfaces on which it is used. */

@font-face {
  font-family: "Color Emoji";
  src: local("Apple Color Emoji"), local("Segoe UI Emoji"), local("Noto Color Emoji");
  unicode-range: U+1F000-1FBFF, U+2600-27BF, U+2B05-2B55, U+231A-231B, U+23E9-23F3, U+FE0F, U+200D, U+20E3, U+E0020-E007F;
}

:root {
  color-scheme: light;
  --accent: #2458c5;
  --accent-hover: #1c49a8;
  --on-accent: #ffffff;
  --accent-soft: #e3ebfb;
  --page: #e9edf3;
  --surface: #ffffff;
  --raised: #ffffff;
  --field: #eef1f6;
  --field-line: #868fa0;
  --hover: #f1f4f9;
  --selected: #dfe8fa;
  --line: #dfe4ec;
  --text: #161b26;
  --muted: #566074;
  --thread: #e8edf4;
  --theirs: #ffffff;
  --own: #d6e4ff;
  --own-muted: #44567c;
  --pill: rgb(222 229 240 / 94%);
  --online: #14804a;
  --warning: #8a5200;
  --warning-soft: #fdf0d7;
  --danger: #b81f36;
  --danger-soft: #fde8eb;
  --mark: #ffe49a;
  --avatar-l: 0.52;
  --name-l: 0.47;
  --shadow: 0 1px 1px rgb(22 34 66 / 9%);
  --shadow-large: 0 16px 48px rgb(18 28 58 / 22%), 0 2px 8px rgb(18 28 58 / 10%);
  --scrim: rgb(16 22 38 / 42%);
  --radius: 12px;
  --quick: 0.13s;
  --latin: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans";
  --cjk: "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC";
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "Liberation Mono", monospace;
  font-family: "Color Emoji", var(--latin), var(--cjk), sans-serif;
  font-size: 15px;
  line-height: 1.42;
  -webkit-text-size-adjust: 100%;
}

:root[data-theme="dark"] {
  color-scheme: dark;
  --accent: #8db0ff;
  --accent-hover: #a9c4ff;
  --on-accent: #0c1730;
  --accent-soft: #223255;
  --page: #0e1116;
  --surface: #171b22;
  --raised: #1f242d;
  --field: #252b36;
  --field-line: #7b8699;
  --hover: #20262f;
  --selected: #24345a;
  --line: #2a313c;
  --text: #e9edf4;
  --muted: #a3adbf;
  --thread: #10141a;
  --theirs: #212832;
  --own: #254176;
  --own-muted: #b4c7ee;
  --pill: rgb(36 43 54 / 94%);
  --online: #4ecb8d;
  --warning: #f0bd6a;
  --warning-soft: #3a2d15;
  --danger: #ff8794;
  --danger-soft: #401d25;
  --mark: #6b5510;
  --avatar-l: 0.5;
  --name-l: 0.79;
  --shadow: 0 1px 1px rgb(0 0 0 / 30%);
  --shadow-large: 0 18px 50px rgb(0 0 0 / 60%);
  --scrim: rgb(0 0 0 / 60%);
}

:root:lang(zh) { font-family: "Color Emoji", var(--latin), var(--cjk), sans-serif; line-height: 1.5; }

@media (prefers-reduced-motion: reduce) {
  :root { --quick: 0s; }
  *, ::before, ::after { animation-duration: 0.01ms !important; transition-duration: 0.01ms !important; scroll-behavior: auto !important; }
}

@media (forced-colors: active) {
  .bubble, .card, .menu, .avatar, .badge, .reaction, .chip, .day-pill { border: 1px solid CanvasText; }
  .row[aria-selected="true"], .row[aria-current="true"], .chip[aria-pressed="true"] { outline: 2px solid Highlight; }
  .icon { forced-color-adjust: auto; }
}
/* Elements, buttons, fields and the panes. */

* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; overflow: hidden; }
body { background: var(--page); color: var(--text); -webkit-font-smoothing: antialiased; overscroll-behavior: none; }
h1, h2, h3, p, ul, ol, figure, pre, blockquote, fieldset, legend { margin: 0; padding: 0; border: 0; }
ul, ol { list-style: none; }
h1 { font-size: 22px; line-height: 1.25; }
h2 { font-size: 16px; line-height: 1.3; }
h3 { font-size: 13px; font-weight: 600; color: var(--muted); }
[hidden] { display: none !important; }
button, input, textarea, select { font: inherit; color: inherit; }
button { cursor: pointer; border: 0; background: none; padding: 0; touch-action: manipulation; text-align: inherit; }
button:disabled { cursor: default; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
::selection { background: rgb(90 130 240 / 32%); }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: 22px; height: 22px; fill: none; stroke: currentcolor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; flex: none; }
.icon-more { stroke-width: 3; }
.grow { flex: 1; min-width: 0; }
.ellipsis { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.muted { color: var(--muted); }
.small { font-size: 13px; }
.danger { color: var(--danger); }

.icon-button { display: inline-grid; place-items: center; width: 40px; height: 40px; border-radius: 50%; color: var(--muted); transition: background var(--quick), color var(--quick); flex: none; }
.icon-button:hover, .icon-button[aria-expanded="true"] { background: var(--hover); color: var(--text); }
.icon-button:focus-visible { outline-offset: -2px; }
.button { display: inline-flex; text-decoration: none; align-items: center; justify-content: center; gap: 8px; min-height: 40px; padding: 8px 18px; border-radius: 10px; font-weight: 600; color: var(--accent); background: var(--accent-soft); transition: background var(--quick); }
.button:hover:not(:disabled) { background: var(--selected); }
.button.primary { background: var(--accent); color: var(--on-accent); }
.button.primary:hover:not(:disabled) { background: var(--accent-hover); }
.button.dangerous { background: var(--danger-soft); color: var(--danger); }
.button.danger { color: var(--danger); }
.button.quiet { background: none; }
.button.quiet:hover { background: var(--hover); }
.button.wide { width: 100%; }
.button.small { min-height: 34px; padding: 5px 14px; font-size: 14px; white-space: nowrap; flex: none; }
@media (pointer: coarse) { .button.small { min-height: 40px; } }
.button:disabled { opacity: 0.55; }
.link { color: var(--accent); font-weight: 600; border-radius: 4px; }
.link:hover { text-decoration: underline; }

.field { display: grid; gap: 5px; font-size: 13px; color: var(--muted); }
.input { width: 100%; min-height: 42px; padding: 9px 13px; border: 1px solid var(--field-line); border-radius: 10px; background: var(--surface); color: var(--text); font-size: 15px; outline: none; }
.input.search { border-color: transparent; border-radius: 21px; background: var(--field) no-repeat; padding-left: 40px; }
.input:focus { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.input::placeholder { color: var(--muted); opacity: 1; }
.input[aria-invalid="true"] { border-color: var(--danger); }
input[type="search"]::-webkit-search-cancel-button { display: none; }
select.input { appearance: auto; width: auto; min-width: 150px; padding: 7px 10px; min-height: 38px; }
input[type="checkbox"], input[type="radio"] { accent-color: var(--accent); width: 18px; height: 18px; margin: 0; flex: none; }
.switch { appearance: none; position: relative; width: 40px !important; height: 24px !important; border-radius: 12px; background: var(--field-line); transition: background var(--quick); cursor: pointer; }
.switch::after { content: ""; position: absolute; top: 3px; left: 3px; width: 18px; height: 18px; border-radius: 9px; background: #fff; transition: transform var(--quick); }
.switch:checked { background: var(--accent); }
.switch:checked::after { transform: translateX(16px); background: var(--on-accent); }
@media (forced-colors: active) { .switch { appearance: auto; } .switch::after { display: none; } }
.search-box { position: relative; flex: 1; min-width: 0; }
.search-box .icon { position: absolute; left: 12px; top: 11px; width: 20px; height: 20px; color: var(--muted); pointer-events: none; }
.form-error { color: var(--danger); font-size: 14px; }
.form-error:empty { display: none; }

.avatar { --h: 250; --size: 48px; position: relative; display: inline-grid; place-items: center; width: var(--size); height: var(--size); border-radius: 50%; flex: none; background: oklch(calc(var(--avatar-l) + var(--shade, 0)) 0.13 var(--h)); color: #fff; font-weight: 600; font-size: calc(var(--size) * 0.38); line-height: 1; letter-spacing: -0.01em; user-select: none; }
.avatar.symbol { background: var(--accent-soft); color: var(--accent); }
.avatar.square { border-radius: 32%; }
.avatar img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; border-radius: inherit; }
.avatar .icon { width: 52%; height: 52%; }
.avatar.size-s { --size: 34px; }
.avatar.size-m { --size: 42px; }
.avatar.size-xl { --size: 96px; }
.presence-dot { position: absolute; right: 0; bottom: 0; width: 13px; height: 13px; border-radius: 50%; background: var(--online); border: 2px solid var(--surface); }
.size-xl .presence-dot { right: 7%; bottom: 7%; width: 18px; height: 18px; }
.size-s .presence-dot { width: 11px; height: 11px; right: -1px; bottom: -1px; }
.picked .presence-dot { display: none; }
.badge { display: inline-grid; place-items: center; min-width: 22px; height: 22px; padding: 0 7px; border-radius: 11px; background: var(--accent); color: var(--on-accent); font-size: 12.5px; font-weight: 700; font-variant-numeric: tabular-nums; flex: none; }
.badge.quiet { background: var(--muted); color: var(--surface); }
.badge.mention { padding: 0; }
.icon-button { position: relative; }
.icon-button > .badge { position: absolute; top: 1px; right: -1px; min-width: 18px; height: 18px; padding: 0 5px; font-size: 11px; box-shadow: 0 0 0 2px var(--surface); }

#app { height: 100%; }
.panes { display: grid; grid-template-columns: minmax(280px, 26vw) minmax(0, 1fr); height: 100%; max-width: 1680px; margin: 0 auto; background: var(--surface); }
.panes.with-details { grid-template-columns: minmax(270px, 24vw) minmax(0, 1fr) minmax(290px, 25vw); }
.pane { position: relative; display: flex; flex-direction: column; min-width: 0; min-height: 0; height: 100dvh; background: var(--surface); contain: layout paint style; }
.pane.side { border-right: 1px solid var(--line); }
.pane.details { border-left: 1px solid var(--line); }
.bar { display: flex; align-items: center; gap: 6px; min-height: 60px; padding: 8px 12px; flex: none; }
.bar h1, .bar h2 { flex: 1; min-width: 0; }
.scroller { position: relative; flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--field-line) transparent; }
.banner { display: flex; align-items: center; gap: 10px; padding: 8px 16px; background: var(--warning-soft); color: var(--warning); font-size: 14px; flex: none; }
.banner .icon { width: 18px; height: 18px; }
.empty { display: grid; place-content: center; justify-items: center; gap: 10px; padding: 32px; text-align: center; color: var(--muted); height: 100%; }
.empty.after { height: auto; padding-top: 48px; }
.empty.alone { height: auto; flex: none; padding: 12px 24px 28px; }
.empty h2 { color: var(--text); }
.empty .logo { width: 84px; height: 84px; fill: var(--accent); opacity: 0.85; }
.only-narrow { display: none !important; }

@media (max-width: 1100px) {
  .panes.with-details { grid-template-columns: minmax(270px, 32vw) minmax(0, 1fr); }
  .panes.with-details .pane.details { position: absolute; right: 0; top: 0; width: min(380px, 100%); box-shadow: var(--shadow-large); z-index: 5; }
}
@media (max-width: 720px) {
  .panes, .panes.with-details { display: block; }
  .pane.side { border: 0; }
  .panes .pane.thread-pane, .panes.has-open .pane.side { display: none; }
  .panes.has-open .pane.thread-pane { display: flex; }
  .panes.with-details .pane.details { position: fixed; inset: 0; width: 100%; border: 0; }
  .only-narrow { display: inline-grid !important; }
  .only-wide { display: none !important; }
}
/* The list of conversations, people and search results. */

.filters { display: flex; gap: 4px; padding: 2px 12px 8px; overflow-x: auto; scrollbar-width: none; flex: none; }
.chip { padding: 5px 12px; border-radius: 16px; color: var(--muted); font-weight: 600; font-size: 13.5px; white-space: nowrap; flex: none; }
.chip:hover { background: var(--hover); }
.chip[aria-pressed="true"], .chip[aria-selected="true"] { background: var(--accent-soft); color: var(--accent); }
.chip .count { margin-left: 6px; font-variant-numeric: tabular-nums; }
.virtual { position: relative; }
.virtual > .slice { position: absolute; left: 0; right: 0; top: 0; }
.row { position: relative; display: flex; align-items: center; gap: 12px; width: 100%; padding: 9px 14px; min-height: 66px; border-radius: 0; text-align: left; cursor: pointer; }
.row:hover { background: var(--hover); }
.row[aria-current="true"], .row[aria-selected="true"] { background: var(--selected); }
.row:focus-visible { outline-offset: -2px; border-radius: 8px; }
.row.compact { min-height: 56px; padding: 6px 14px; }
.row .lines { flex: 1; min-width: 0; display: grid; gap: 2px; }
.row .line { display: flex; align-items: center; gap: 6px; min-width: 0; }
.row .title { font-weight: 600; flex: 0 1 auto; min-width: 0; }
.row .line .title + .spring, .row .spring { flex: 1; }
.row .icon { width: 16px; height: 16px; color: var(--muted); }
.row .avatar .icon { width: 52%; height: 52%; color: inherit; }
.row .time { color: var(--muted); font-size: 12.5px; white-space: nowrap; margin-left: 6px; font-variant-numeric: tabular-nums; }
.row .preview { flex: 1; min-width: 0; color: var(--muted); }
.row .preview .icon { vertical-align: -3px; margin-right: 4px; }
.row .preview .who { color: var(--text); }
.row .preview .draft { color: var(--danger); }
.row .preview .typing { color: var(--accent); }
.row .presence-dot { border-color: var(--surface); }
.row .sub { color: var(--muted); font-size: 13.5px; }
.row .role { font-size: 12.5px; color: var(--accent); white-space: nowrap; }
.choice-mark { width: 22px; height: 22px; flex: none; display: grid; place-items: center; border-radius: 50%; border: 2px solid var(--muted); }
.row[aria-pressed="true"] .choice-mark { background: var(--accent); border-color: var(--accent); }
.row .choice-mark .icon { color: var(--on-accent); width: 14px; height: 14px; }
.section-title { padding: 14px 16px 6px; }
mark { background: var(--mark); color: var(--text); border-radius: 2px; }
.side-foot { padding: 8px 12px; border-top: 1px solid var(--line); }
/* The thread: day separators, bubbles, quotes, reactions, attachments. */

.thread-pane { background: var(--thread) !important; }
.thread-pane .bar { background: var(--surface); border-bottom: 1px solid var(--line); z-index: 2; }
.peer { display: flex; align-items: center; gap: 12px; flex: 1; min-width: 0; padding: 2px 6px; border-radius: 10px; }
.peer:hover { background: var(--hover); }
.peer .sub { color: var(--muted); font-size: 13.5px; font-weight: 400; }
.peer .sub.active { color: var(--accent); }
.peer .lines { min-width: 0; }
@media (max-width: 720px) { .thread-pane .bar { gap: 0; padding: 8px 6px; } .peer { gap: 9px; } }
.pinned { display: flex; align-items: center; gap: 4px; width: 100%; padding: 3px 10px 3px 4px; background: var(--surface); border-bottom: 1px solid var(--line); font-size: 14px; flex: none; }
.pin-line { display: flex; align-items: center; gap: 10px; padding: 3px 14px; border-radius: 10px; min-width: 0; }
.pin-line:hover { background: var(--hover); }
.pin-line:focus-visible { outline-offset: -2px; }
.pin-line .icon { color: var(--accent); width: 18px; height: 18px; }
.pinned strong { color: var(--accent); display: block; font-size: 13px; }

.log { display: flex; flex-direction: column; padding: 0 16px; overflow-anchor: none; }
.log > .virtual { flex: none; margin-top: auto; }
.log .slice { max-width: 860px; margin: 0 auto; }
.item { padding: 1px 0; outline: none; contain: layout style; }
.item.first { padding-top: 9px; }
.item:last-child { padding-bottom: 6px; }
.day { display: flex; justify-content: center; padding: 12px 0 8px; }
.day-pill, .note-pill { padding: 4px 12px; border-radius: 14px; background: var(--pill); color: var(--muted); font-size: 13px; font-weight: 600; text-align: center; }
.note-pill { font-weight: 400; max-width: calc(100% - 24px); overflow-wrap: anywhere; }
.note { display: flex; justify-content: center; padding: 5px 0; }
.unread-line { display: flex; align-items: center; gap: 12px; margin: 10px 0 6px; color: var(--accent); font-size: 13px; font-weight: 600; }
.unread-line::before, .unread-line::after { content: ""; flex: 1; height: 1px; background: currentcolor; opacity: 0.4; }

.message { display: grid; grid-template-columns: 34px minmax(0, 1fr); column-gap: 8px; align-items: end; }
.message.alone { grid-template-columns: minmax(0, 1fr); }
.message .stack { display: flex; flex-direction: column; align-items: flex-start; grid-column: 2; min-width: 0; }
.message.alone .stack { grid-column: 1; }
.message.own .stack { align-items: flex-end; }
.bubble { position: relative; max-width: min(560px, 84%); min-width: 64px; padding: 6px 11px 7px; border-radius: 16px; background: var(--theirs); box-shadow: var(--shadow); overflow-wrap: anywhere; --meta: var(--muted); }
.own .bubble { background: var(--own); --meta: var(--own-muted); }
.item:not(.first) .message:not(.own) .bubble { border-top-left-radius: 6px; }
.item:not(.last) .message:not(.own) .bubble { border-bottom-left-radius: 6px; }
.item:not(.first) .message.own .bubble { border-top-right-radius: 6px; }
.item:not(.last) .message.own .bubble { border-bottom-right-radius: 6px; }
.item:focus-visible .bubble { outline: 2px solid var(--accent); outline-offset: 2px; }
.item.hit .bubble { animation: hit 1.8s ease-out; }
@keyframes hit { 0%, 40% { box-shadow: 0 0 0 4px var(--accent); } 100% { box-shadow: 0 0 0 4px transparent; } }
.item.selected { background: color-mix(in srgb, var(--accent) 16%, transparent); border-radius: 10px; }
.selecting .item { cursor: pointer; }
.selecting .bubble { pointer-events: none; }
.bubble-more { position: absolute; top: 50%; left: 100%; margin: -16px 0 0 6px; width: 32px; height: 32px; border-radius: 50%; display: grid; place-items: center; color: var(--muted); background: var(--pill); opacity: 0; transition: opacity var(--quick); }
.own .bubble-more { left: auto; right: 100%; margin: -16px 6px 0 0; }
.bubble-more .icon { width: 18px; height: 18px; }
.bubble-box { position: relative; max-width: min(560px, 84%); display: flex; flex-direction: column; }
.bubble-box > .bubble { max-width: 100%; }
.item:hover .bubble-more, .bubble-more:focus-visible { opacity: 1; }
@media (hover: none) { .bubble-more { display: none; } }
.selecting .bubble-more { display: none; }
.author { display: block; font-weight: 600; font-size: 14px; color: oklch(var(--name-l) 0.14 var(--h, 250)); max-width: 100%; border-radius: 4px; }
.author .name-mark { color: var(--muted); font-weight: 400; margin-left: 6px; }
.forwarded { display: block; font-size: 13px; color: var(--meta); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; display: block; }
.text.big { display: flex; align-items: flex-end; flex-wrap: wrap; font-size: 40px; line-height: 1.2; }
.text a { text-decoration: underline; text-underline-offset: 2px; text-decoration-thickness: 1px; }
.text code { font-family: var(--mono); font-size: 0.91em; background: rgb(110 130 165 / 18%); border-radius: 4px; padding: 1px 4px; }
.text pre code { font-size: inherit; background: none; padding: 0; }
.text pre { font-family: var(--mono); font-size: 13px; background: rgb(110 130 165 / 16%); border-radius: 8px; padding: 8px 10px; margin: 4px 0; overflow-x: auto; white-space: pre; }
.text .quoted { display: block; border-left: 3px solid var(--accent); padding-left: 9px; margin: 2px 0; }
.text .listed { display: block; margin: 2px 0; padding-left: 2px; }
.text .spoiler { background: var(--muted); color: transparent; border-radius: 3px; cursor: pointer; }
.text .spoiler.open { background: rgb(110 130 165 / 22%); color: inherit; }
.text .mention { color: var(--accent); font-weight: 600; }
.own .text a, .own .mention { color: inherit; }
.text .mention.me { background: var(--mark); color: var(--text); border-radius: 4px; padding: 0 2px; }
.meta { float: right; display: inline-flex; align-items: center; gap: 4px; margin: 7px -2px -3px 12px; color: var(--meta); font-size: 12px; line-height: 16px; white-space: nowrap; font-variant-numeric: tabular-nums; user-select: none; }
.meta .ticks { width: 16px; height: 16px; fill: none; stroke: currentcolor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
.meta .ticks.read { color: var(--accent); }
.meta .ticks.failed { color: var(--danger); }
.bubble.media { padding: 4px; overflow: hidden; }
.bubble.media .author, .bubble.media > .text, .bubble.media .forwarded, .bubble.media .quote { margin: 2px 7px; }
.bubble.media .meta.over { position: absolute; right: 9px; bottom: 9px; float: none; margin: 0; padding: 2px 8px; border-radius: 11px; background: rgb(12 16 26 / 68%); color: #fff; z-index: 1; }
.bubble.media .meta.over .ticks { color: #fff; }
.bubble.media > .meta:not(.over) { margin: 4px 6px 2px 10px; }
.bubble::after { content: ""; display: block; clear: both; }
.recalled { color: var(--meta); font-style: italic; }
:lang(zh) .recalled { font-style: normal; }

.own .muted { color: var(--own-muted); }
.own .quote strong, .own .poll .link { color: inherit; }
.quote { display: block; max-width: 100%; margin: 2px 0 4px; padding: 4px 9px; border-left: 3px solid oklch(var(--name-l) 0.14 var(--h, 250)); border-radius: 4px 8px 8px 4px; background: rgb(110 130 165 / 13%); font-size: 14px; overflow: hidden; }
.quote strong { display: block; color: oklch(var(--name-l) 0.14 var(--h, 250)); font-size: 13px; }
.quote .ellipsis { display: block; }
.picture { position: relative; display: block; border-radius: 13px; overflow: hidden; background: rgb(110 130 165 / 22%); max-width: 100%; }
.picture canvas, .picture img, .picture video { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.picture img { opacity: 0; transition: opacity 0.2s; }
.picture img.loaded { opacity: 1; }
.picture .progress { position: absolute; inset: 0; display: grid; place-items: center; background: rgb(10 14 22 / 35%); color: #fff; font-weight: 600; }
.file, .place, .contact-card { display: flex; align-items: center; gap: 12px; min-width: 220px; max-width: 100%; padding: 4px 2px; text-decoration: none; color: inherit; border-radius: 10px; }
.file-icon { display: grid; place-items: center; width: 46px; height: 46px; border-radius: 12px; background: var(--accent); color: var(--on-accent); flex: none; }
.file .name, .place .name, .contact-card .name { font-weight: 600; }
.file .sub, .place .sub, .contact-card .sub { font-size: 13px; color: var(--meta); }
.call-line { display: flex; align-items: center; gap: 12px; min-width: 200px; padding: 3px 0; }
.call-line .icon { color: var(--accent); }
.call-line.missed .icon { color: var(--danger); }
.poll { display: grid; gap: 9px; min-width: min(300px, 62vw); padding: 2px 0 4px; }
.poll legend { font-weight: 600; padding-bottom: 2px; }
.poll + .meta { margin-top: -17px; position: relative; }
.bubble > :is(.file, .place, .contact-card, .call-line) + .meta { margin-top: -15px; position: relative; }
.recalled .meta { font-style: normal; }
.poll .option { display: grid; grid-template-columns: 22px 1fr auto; gap: 2px 8px; align-items: center; cursor: pointer; border-radius: 6px; }
.poll .option .share { font-variant-numeric: tabular-nums; font-size: 13px; color: var(--meta); }
.poll progress { grid-column: 2 / 4; width: 100%; height: 5px; appearance: none; border: 0; border-radius: 3px; overflow: hidden; background: rgb(110 130 165 / 25%); }
.poll progress::-webkit-progress-bar { background: transparent; }
.poll progress::-webkit-progress-value { background: var(--accent); border-radius: 3px; }
.poll progress::-moz-progress-bar { background: var(--accent); }
.preview-card { display: block; clear: both; margin-top: 5px; padding: 6px 10px; border-left: 3px solid var(--accent); border-radius: 4px 8px 8px 4px; background: rgb(110 130 165 / 13%); color: inherit; text-decoration: none; font-size: 14px; }
.text:has(+ .preview-card) > .meta { margin-bottom: 3px; }
.preview-card strong { display: block; }
.preview-card .about { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
.preview-card .site { color: var(--accent); font-size: 13px; font-weight: 600; display: block; }
.own .preview-card .site { color: inherit; }
.reactions { display: flex; flex-wrap: wrap; gap: 4px; padding: 4px 0 2px; max-width: min(560px, 84%); }
.reaction { display: inline-flex; align-items: center; gap: 5px; height: 28px; padding: 0 9px; border-radius: 14px; background: var(--theirs); box-shadow: var(--shadow); font-size: 13px; font-variant-numeric: tabular-nums; }
.reaction .face { font-size: 16px; }
.reaction[aria-pressed="true"] { background: var(--accent); color: var(--on-accent); }
.meta .expires { display: inline-flex; align-items: center; gap: 2px; }
.meta .expires .icon { width: 14px; height: 14px; }
.thread-link .icon { width: 16px; height: 16px; }
.thread-link { display: inline-flex; align-items: center; gap: 5px; font-size: 13.5px; font-weight: 600; color: var(--accent); padding: 3px 2px; }
.failure { display: flex; align-items: center; gap: 10px; padding: 3px 2px; font-size: 13.5px; color: var(--danger); }
.failure button { flex: none; white-space: nowrap; }
.jump { position: absolute; right: 18px; bottom: 12px; display: grid; place-items: center; width: 44px; height: 44px; border-radius: 50%; background: var(--raised); color: var(--muted); box-shadow: var(--shadow-large); z-index: 3; }
.jump .badge { position: absolute; top: -9px; left: 50%; transform: translateX(-50%); }
.log-box { position: relative; display: flex; flex-direction: column; flex: 1; min-height: 0; }
.loading-line { text-align: center; padding: 10px; color: var(--muted); font-size: 13px; }
@media (max-width: 720px) { .log { padding: 0 8px; } .bubble-box { max-width: 88%; } .message:not(.alone) .bubble-box { max-width: 96%; } }
.pinned .ellipsis { display: block; }

.selection-bar .danger { color: var(--danger); }
.album { display: grid; grid-template-columns: 1fr 1fr; gap: 3px; width: min(400px, 72vw); border-radius: 13px; overflow: hidden; }
.album .picture { border-radius: 0; aspect-ratio: 1; }
.album .picture:first-child:nth-last-child(odd) { grid-column: span 2; aspect-ratio: 16 / 10; }
.request-bar { display: flex; align-items: center; justify-content: center; gap: 10px; width: 100%; padding: 8px 16px; border-bottom: 1px solid var(--line); background: var(--surface); color: var(--accent); font-size: 14px; font-weight: 600; flex: none; }
.request-bar:hover { background: var(--hover); }
.request-bar:focus-visible { outline-offset: -2px; }
.request-bar .icon { width: 18px; height: 18px; }
.contact-bar { display: grid; gap: 8px; padding: 10px 16px; border-bottom: 1px solid var(--line); background: var(--surface); flex: none; }
.contact-bar .lines { display: grid; gap: 6px; }
/* Voice messages, films, the viewer, places, and the media of a conversation. */

.voice { display: flex; align-items: center; gap: 10px; width: min(270px, 62vw); max-width: 100%; }
.voice > .grow { display: grid; gap: 1px; }
.voice .name { font-weight: 600; display: block; }
.voice .play { border-radius: 50%; width: 42px; height: 42px; }
.voice .play .icon { fill: currentcolor; width: 20px; height: 20px; }
.voice .play .icon-pause { stroke-width: 4; }
.wave { position: relative; display: flex; align-items: center; gap: 2px; height: 28px; flex: 1; min-width: 0; overflow: hidden; border-radius: 4px; }
.wave i { flex: 1; border-radius: 1px; background: var(--meta, var(--muted)); opacity: 0.55; min-height: 3px; }
.wave i.done { background: var(--accent); opacity: 1; }
.wave b { flex: 1; height: 4px; border-radius: 2px; background: linear-gradient(to right, var(--accent) var(--played, 0%), rgb(110 130 165 / 35%) 0); }
.voice .wave { cursor: pointer; touch-action: pan-y; }
.voice .line { display: flex; align-items: center; gap: 8px; min-height: 20px; color: var(--meta); font-size: 12.5px; font-variant-numeric: tabular-nums; }
.voice .unplayed { width: 8px; height: 8px; border-radius: 4px; background: var(--accent); }
.voice .speed { min-width: 34px; padding: 0 6px; border-radius: 9px; background: rgb(110 130 165 / 22%); color: inherit; font-weight: 600; text-align: center; }
.bubble > .voice + .meta { margin-top: -18px; position: relative; }

.record-strip { display: flex; align-items: center; gap: 10px; flex: 1; min-width: 0; height: 40px; --meta: var(--muted); }
.record-strip .time { font-variant-numeric: tabular-nums; min-width: 40px; }
.record-strip .wave { justify-content: flex-end; }
.record-strip .wave i { flex: 0 0 3px; }
.record-strip .hint { flex: 0 1 auto; min-width: 0; transform: translateX(var(--slide, 0)); text-align: right; line-height: 1.25; }
.record-strip.held .icon-button { visibility: hidden; }
.record-dot { width: 10px; height: 10px; border-radius: 5px; background: var(--danger); animation: pulse 1.4s infinite; flex: none; }
@keyframes pulse { 50% { opacity: 0.25; } }
#record { touch-action: none; user-select: none; }
.record-strip.held ~ #record { transform: scale(1.25); background: var(--danger); }
@media (max-width: 720px) { .record-strip .wave { max-width: 30%; } }

.film-mark, .film-time { position: absolute; display: grid; place-items: center; color: #fff; background: rgb(12 16 26 / 60%); z-index: 1; }
.film-mark { top: 50%; left: 50%; width: 52px; height: 52px; margin: -26px 0 0 -26px; border-radius: 50%; }
.film-mark .icon { fill: currentcolor; }
.film.playing .film-mark { display: none; }
.film-time { top: 8px; left: 8px; padding: 1px 8px; border-radius: 10px; font-size: 12px; font-variant-numeric: tabular-nums; }
.picture video { opacity: 0; transition: opacity 0.2s; }
.picture.playing video { opacity: 1; }
.picture .progress { z-index: 2; align-content: center; gap: 6px; }
.cancel-upload { display: grid; place-items: center; width: 44px; height: 44px; border-radius: 50%; color: #fff; background: radial-gradient(closest-side, rgb(12 16 26 / 92%) 84%, transparent 85%), conic-gradient(#fff var(--value, 0deg), rgb(255 255 255 / 30%) 0); flex: none; }
.file .name, .file .sub { display: block; overflow-wrap: anywhere; }
.file .ending { font-size: 12px; font-weight: 700; letter-spacing: 0.02em; }
.file.waits .progress { display: flex; align-items: center; gap: 8px; font-variant-numeric: tabular-nums; font-size: 13px; }

.viewer { --accent: #8db0ff; }
.viewer[open] { grid-template-rows: auto minmax(0, 1fr) auto; }
.viewer .bar .grow { overflow: hidden; }
.viewer .bar strong { display: block; }
.viewer .icon-button:disabled { opacity: 0.4; }
.stage-box { position: relative; min-height: 0; display: grid; }
.viewer .stage { grid-template: minmax(0, 1fr) / minmax(0, 1fr); overflow: hidden; touch-action: none; }
.viewer .stage > img { height: auto; will-change: transform; user-select: none; }
.viewer .stage.zoomed { cursor: grab; }
.viewer .stage > video { max-width: 100%; max-height: 100%; min-height: 0; outline-offset: -2px; }
.viewer .step { position: absolute; top: 50%; left: 12px; margin-top: -22px; width: 44px; height: 44px; background: rgb(12 16 26 / 60%); }
.viewer .step.next { left: auto; right: 12px; }
.viewer .caption { padding: 10px 20px calc(16px + env(safe-area-inset-bottom)); max-height: 30vh; overflow-y: auto; text-align: center; white-space: pre-wrap; overflow-wrap: anywhere; }
.viewer .caption a { color: #a9c4ff; }
@media (max-width: 720px) { .viewer .bar { padding: 6px; gap: 0; } .viewer .bar .small { font-size: 12px; } .viewer .step { display: none; } }
@media (max-width: 720px) and (pointer: fine) { .viewer .step { display: inline-grid; } }

.place-card { display: grid; gap: 1px; width: min(280px, 66vw); max-width: 100%; }
.place-card .name { font-weight: 600; padding-top: 5px; overflow-wrap: anywhere; }
.place-card .sub { font-size: 13px; color: var(--meta); overflow-wrap: anywhere; }
.place-links { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13.5px; padding-top: 2px; }
.own .place-links .link { color: inherit; }
.sketch { display: block; width: 100%; height: auto; border-radius: 11px; background: var(--field); color: var(--muted); }
.sketch .grid { stroke: currentcolor; stroke-width: 1; opacity: 0.35; fill: none; }
.sketch text { fill: currentcolor; font-size: 10px; font-family: inherit; }
.sketch text.end { text-anchor: end; }
.sketch .scale, .sketch .cross { stroke: currentcolor; stroke-width: 1.5; fill: none; }
.sketch .accuracy { fill: var(--accent); opacity: 0.2; }
.sketch .spot { fill: var(--accent); stroke: var(--surface); stroke-width: 2; }
.place-preview { display: grid; gap: 6px; min-height: 20px; }
.place-preview .sketch { max-width: 380px; }

.camera { width: 100%; max-height: 60vh; background: #000; display: block; min-height: 0; }
.camera.mirrored { transform: scaleX(-1); }
.camera-bar { display: grid; grid-template-columns: 1fr auto 1fr; align-items: center; padding: 14px 20px; }
.camera-bar .time { justify-self: end; font-variant-numeric: tabular-nums; }
.record-button { display: grid; place-items: center; width: 64px; height: 64px; border-radius: 50%; color: #fff; background: #c81f3a; box-shadow: inset 0 0 0 4px var(--raised), 0 0 0 2px #c81f3a; }
.record-button .icon { fill: currentcolor; }

.media-scroller { padding: 0 12px 16px; }
.media-list.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(112px, 1fr)); gap: 4px; }
.media-list.grid .picture { aspect-ratio: 1; border-radius: 8px; width: 100%; }
.media-list.lines { display: grid; gap: 6px; --meta: var(--muted); }
.media-line { display: grid; gap: 3px; padding: 8px; border-bottom: 1px solid var(--line); min-width: 0; }
.media-line .voice { width: min(340px, 100%); }
.media-link { display: grid; text-decoration: none; min-width: 0; }
.media-link span { color: var(--muted); font-size: 13.5px; }
/* The composer, its bars, completion, and the emoji picker. */

.composer { position: relative; flex: none; padding: 8px 14px calc(12px + env(safe-area-inset-bottom)); }
.composer .frame { max-width: 860px; margin: 0 auto; background: var(--surface); border-radius: 22px; box-shadow: var(--shadow); border: 1px solid var(--line); }
.composer .frame:focus-within { border-color: var(--accent); }
.composer .input-row { display: flex; align-items: flex-end; gap: 2px; padding: 4px; }
.composer textarea { flex: 1; min-width: 0; min-height: 40px; max-height: 40vh; padding: 9px 6px; border: 0; outline: none; resize: none; background: none; line-height: 22px; overflow-y: auto; field-sizing: content; }
.composer textarea::placeholder { color: var(--muted); opacity: 1; }
.composer .send { width: 40px; height: 40px; border-radius: 50%; background: var(--accent); color: var(--on-accent); display: grid; place-items: center; flex: none; }
.composer .send:disabled { background: none; color: var(--muted); }
.composer .send:hover:not(:disabled) { background: var(--accent-hover); }
.composer-note { text-align: center; padding: 14px; color: var(--muted); background: var(--surface); border-top: 1px solid var(--line); display: flex; gap: 12px; justify-content: center; align-items: center; flex-wrap: wrap; flex: none; }
.reply-bar { display: flex; align-items: center; gap: 10px; padding: 7px 8px 0 14px; font-size: 14px; }
.reply-bar .icon { color: var(--accent); }
.reply-bar .icon-button .icon { color: inherit; }
.reply-bar .icon-button { width: 32px; height: 32px; }
.reply-bar strong { display: block; color: var(--accent); font-size: 13px; }
.attachments { display: flex; gap: 8px; padding: 10px 12px 2px; overflow-x: auto; }
.attachment { position: relative; display: grid; place-items: center; width: 88px; height: 88px; border-radius: 12px; background: var(--field); flex: none; overflow: hidden; padding: 6px; text-align: center; font-size: 12px; }
.attachment img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.attachment .ellipsis { max-width: 100%; }
.attachment button { position: absolute; top: 4px; right: 4px; width: 24px; height: 24px; border-radius: 12px; background: rgb(10 14 22 / 70%); color: #fff; display: grid; place-items: center; }
.attachment button .icon { width: 14px; height: 14px; }
.completion { position: absolute; bottom: calc(100% - 4px); left: 14px; right: 14px; max-width: 480px; max-height: 260px; overflow-y: auto; padding: 6px 0; border-radius: 14px; background: var(--raised); box-shadow: var(--shadow-large); z-index: 6; border: 1px solid var(--line); }
.completion [role="option"] { display: flex; align-items: center; gap: 10px; padding: 6px 14px; cursor: pointer; }
.completion [aria-selected="true"] { background: var(--selected); }
.completion .face { font-size: 22px; }
.emoji-panel { width: 340px; max-width: calc(100vw - 24px); padding: 10px; }
.emoji-panel .grid { display: grid; grid-template-columns: repeat(8, 1fr); max-height: 260px; overflow-y: auto; margin-top: 8px; scrollbar-width: thin; }
.emoji-panel .grid h3 { grid-column: 1 / -1; padding: 6px 4px 2px; }
.emoji-panel .grid button { aspect-ratio: 1; border-radius: 8px; font-size: 24px; line-height: 1; text-align: center; }
.emoji-panel .grid button:hover, .emoji-panel .grid button:focus-visible { background: var(--selected); outline: none; }
.drop-target { position: absolute; inset: 12px; display: grid; place-items: center; border: 2px dashed var(--accent); border-radius: 18px; background: color-mix(in srgb, var(--surface) 88%, transparent); color: var(--accent); font-weight: 600; z-index: 8; pointer-events: none; }
.selection-bar { display: flex; align-items: center; gap: 8px; padding: 10px 16px calc(10px + env(safe-area-inset-bottom)); background: var(--surface); border-top: 1px solid var(--line); flex: none; }
@media (max-width: 720px) { .composer { padding: 6px 8px calc(8px + env(safe-area-inset-bottom)); } }
.scheduled-line { display: flex; align-items: center; gap: 8px; margin: 4px 6px 0; padding: 3px 8px; border-radius: 10px; color: var(--accent); font-size: 13px; font-weight: 600; }
.scheduled-line:hover { background: var(--hover); }
.scheduled-line .icon { width: 16px; height: 16px; }
.slow-line { padding: 6px 14px 0; color: var(--muted); font-size: 13px; font-variant-numeric: tabular-nums; }
/* Menus, dialogs, the details pane, sign-in, toasts, the picture viewer. */

.menu { position: fixed; min-width: 200px; max-width: 320px; max-height: calc(100vh - 16px); overflow-y: auto; padding: 6px; border-radius: 14px; background: var(--raised); color: var(--text); box-shadow: var(--shadow-large); z-index: 40; border: 1px solid var(--line); }
.menu [role^="menuitem"] { display: flex; align-items: center; gap: 12px; width: 100%; padding: 8px 12px; border-radius: 9px; outline: none; }
.menu [role^="menuitem"]:hover, .menu [role^="menuitem"]:focus { background: var(--hover); }
.menu [role^="menuitem"]:focus-visible { box-shadow: inset 0 0 0 2px var(--accent); }
.menu [role^="menuitem"] .icon { width: 20px; height: 20px; color: var(--muted); }
.menu .danger .icon { color: inherit; }
.menu hr { border: 0; border-top: 1px solid var(--line); margin: 6px 4px; }
.menu .quick { display: flex; gap: 2px; padding: 2px 2px 6px; }
.menu .quick button { width: 38px; height: 38px; border-radius: 50%; font-size: 22px; text-align: center; padding: 0; justify-content: center; }
.menu .quick button[aria-checked="true"] { background: var(--accent-soft); }

dialog.card { width: min(440px, calc(100vw - 24px)); max-height: min(720px, calc(100dvh - 24px)); padding: 0; border: 1px solid var(--line); border-radius: 18px; background: var(--raised); color: var(--text); box-shadow: var(--shadow-large); overflow: hidden; }
dialog.card[open] { display: flex; flex-direction: column; }
dialog.card.wide { width: min(640px, calc(100vw - 24px)); height: min(720px, calc(100dvh - 24px)); }
dialog::backdrop { background: var(--scrim); }
dialog .dialog-head { display: flex; align-items: center; gap: 8px; padding: 14px 12px 8px 20px; flex: none; }
dialog .dialog-body { padding: 6px 20px 16px; overflow-y: auto; display: grid; gap: 14px; min-height: 0; align-content: start; scrollbar-width: thin; }
dialog .dialog-body.flush { padding: 0; display: flex; flex-direction: column; flex: 1; }
dialog .dialog-foot { display: flex; gap: 8px; justify-content: flex-end; padding: 12px 20px 16px; flex: none; }
dialog .pad { padding: 4px 20px 10px; display: grid; gap: 10px; }
dialog .people { flex: 1; min-height: 160px; overflow-y: auto; }
dialog.card.tall { height: min(720px, calc(100dvh - 24px)); }
dialog .people .row, dialog.card > .row { padding-left: 20px; padding-right: 20px; }
dialog .people .empty { height: auto; padding: 36px 24px; }
.dialog-form { display: flex; flex-direction: column; flex: 1; min-height: 0; }
.dialog-body.rows, .pad .rows { gap: 0; }
.rows > h3 { padding: 14px 0 2px; }
.rows > h3:first-child { padding-top: 0; }
.list-title { padding: 14px 20px 4px; }

.request { display: flex; gap: 12px; padding: 8px 20px; align-items: flex-start; }
.request .face { border-radius: 50%; flex: none; }
.request .lines { flex: 1; min-width: 0; display: grid; gap: 6px; }
.request .lines.middle { align-self: center; gap: 0; }
.request > .button { align-self: center; }
.request .line { display: flex; gap: 6px; align-items: baseline; min-width: 0; }
.request .title { font-weight: 600; min-width: 0; }
.request .sub, .request .time { color: var(--muted); font-size: 13px; min-width: 0; }
.request .time { flex: none; }
.request .line .title { flex: 0 1 auto; } .request .line .sub { flex: 0 10 auto; } .request .spring { flex: 1; }
.said { background: var(--field); border-radius: 4px 12px 12px; padding: 8px 12px; overflow-wrap: anywhere; white-space: pre-wrap; justify-self: start; max-width: 100%; }
.request-box { display: grid; gap: 10px; padding: 14px 16px; border-radius: 14px; border: 1px solid var(--line); }
.notice-line { display: flex; gap: 8px; align-items: flex-start; padding: 8px 12px; border-radius: 10px; background: var(--warning-soft); color: var(--warning); font-size: 13.5px; text-align: start; }
.notice-line .icon { width: 18px; height: 18px; margin-top: 1px; }
.action-list { display: grid; gap: 2px; }
.action-row { display: flex; gap: 14px; align-items: center; width: 100%; min-height: 44px; padding: 8px 12px; border-radius: 10px; }
.action-row:hover { background: var(--hover); }
.action-row .icon { width: 20px; height: 20px; color: var(--muted); }
.action-row.danger .icon { color: inherit; }
.action-row .lines { display: grid; flex: 1; }
.action-row .title { font-weight: 600; }
.action-row[aria-pressed="true"] { background: var(--accent-soft); }
.dialog-body.profile .action-list { margin: 0 -12px; }
.is-online { color: var(--online); }
.lookalike { display: inline-flex; vertical-align: -3px; color: var(--warning); flex: none; }
.lookalike .icon, .row .lookalike .icon { width: 17px; height: 17px; color: inherit; }
.picked { display: flex; flex-wrap: wrap; gap: 6px; }
.picked button { display: inline-flex; gap: 6px; align-items: center; padding: 3px 10px 3px 4px; border-radius: 18px; background: var(--accent-soft); color: var(--accent); font-size: 14px; font-weight: 600; }
.picked .icon { width: 14px; height: 14px; }
.picked .avatar { --size: 26px; }
.option-row { display: flex; align-items: center; gap: 12px; min-height: 46px; padding: 4px 0; }
.option-row .lines { flex: 1; min-width: 0; }
.option-row label { cursor: pointer; }
fieldset.group { display: grid; gap: 2px; }
fieldset.group > legend { font-size: 13px; font-weight: 600; color: var(--muted); padding-bottom: 4px; }
.choice { display: flex; align-items: center; gap: 12px; padding: 9px 0; cursor: pointer; }

.settings { display: grid; grid-template-columns: 190px 1fr; flex: 1; min-height: 0; }
.settings nav { padding: 6px 8px; overflow-y: auto; border-right: 1px solid var(--line); display: grid; gap: 2px; align-content: start; }
.settings nav button { display: flex; gap: 12px; align-items: center; padding: 9px 12px; border-radius: 10px; }
.settings nav button:hover { background: var(--hover); }
.settings nav button[aria-selected="true"] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.settings nav .icon { width: 20px; height: 20px; color: var(--muted); }
.settings nav [aria-selected="true"] .icon { color: inherit; }
.settings nav .icon-chevron { width: 16px; height: 16px; }
@media (min-width: 721px) { .settings nav .icon-chevron { display: none; } }
.page-head { display: flex; align-items: center; gap: 6px; min-height: 32px; }
.settings section + section, .settings section + form, .settings form + form { border-top: 1px solid var(--line); padding-top: 16px; }
.settings .page { padding: 8px 22px 20px; overflow-y: auto; display: grid; gap: 16px; align-content: start; scrollbar-width: thin; }
@media (max-width: 720px) {
  dialog.card.wide { width: 100vw; height: 100dvh; max-width: none; max-height: none; border-radius: 0; border: 0; }
  dialog.card.tall { width: 100vw; height: 100dvh; max-width: none; max-height: none; border-radius: 0; border: 0; margin: 0; }
  .settings { grid-template-columns: 1fr; }
  .settings nav { border: 0; padding: 6px 10px; }
  .settings nav button, .settings nav button[aria-selected="true"] { min-height: 48px; background: none; color: inherit; font-weight: 400; }
  .settings:not(.has-page) .page, .settings.has-page nav { display: none; }
  .settings .page { padding: 0 20px 24px; }
  .page-head { margin-left: -10px; }
}

.details .scroller { padding-bottom: 24px; }
.details .hero { display: grid; grid-template-columns: minmax(0, auto); justify-content: center; justify-items: center; overflow-wrap: anywhere; gap: 6px; padding: 18px 20px 12px; text-align: center; }
.details .hero .sub { color: var(--muted); }
.details .actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(86px, 1fr)); gap: 6px; padding: 4px 16px 14px; }
.details .actions:has(> :nth-child(4):last-child) { grid-template-columns: repeat(4, minmax(0, 1fr)); }
.details .action { display: grid; justify-items: center; gap: 4px; padding: 9px 2px; border-radius: 12px; color: var(--accent); background: var(--accent-soft); font-size: 12.5px; font-weight: 600; text-align: center; }
.details .action:hover { background: var(--selected); }
.details .block { padding: 10px 18px; border-top: 1px solid var(--line); display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px; }
.details .block.members { padding: 10px 0 0; }
.details .block.members > :not(.scroller) { margin: 0 18px; }
.details .block.members > .filters { margin: 0; padding: 0 12px; gap: 0; justify-content: space-between; }
.details .block.members > .filters .chip { padding: 5px 4px; font-size: 12.5px; }
@media (min-width: 1101px) and (max-width: 1300px) {
  .details .block.members > .filters { padding: 0 9px; }
  .details .block.members > .filters .chip { padding: 5px 3px; font-size: 11.5px; }
}
.details .members-list { min-height: 64px; max-height: 360px; overflow-y: auto; }
.details .members-list .empty { height: auto; padding: 24px; }
.details .members-list .row { padding-left: 18px; padding-right: 18px; }
.details .action-list { padding: 10px 6px; }
.row-with-buttons { display: flex; align-items: center; padding-right: 10px; }
.row-with-buttons .row { flex: 1; min-width: 0; }
.details .row-with-buttons .row { padding-right: 4px; }
.about { white-space: pre-wrap; overflow-wrap: anywhere; }
.link-row { display: flex; gap: 2px; align-items: center; padding: 4px 0; }
.link-row .lines { flex: 1; min-width: 0; }
.details .block > .button { justify-self: start; }

.auth { min-height: 100%; display: grid; place-items: center; padding: 24px 16px; overflow-y: auto; height: 100%; }
.auth .card { width: min(400px, 100%); display: grid; gap: 16px; padding: 34px 32px 28px; border-radius: 22px; background: var(--raised); box-shadow: var(--shadow-large); }
.auth .brand { display: grid; justify-items: center; gap: 10px; text-align: center; padding-bottom: 4px; }
.brand-mark { width: 72px; height: 72px; border-radius: 22px; background: var(--accent); color: var(--on-accent); display: grid; place-items: center; }
.brand-mark .logo { width: 78%; fill: currentcolor; }
.auth form { display: grid; gap: 14px; }
.auth .foot { display: flex; justify-content: space-between; gap: 12px; flex-wrap: wrap; font-size: 14px; }
.password-box { position: relative; }
.password-box .input { padding-right: 46px; }
.password-box .icon-button { position: absolute; right: 2px; top: 1px; }
@media (max-width: 720px) { .auth { background: var(--surface); place-items: start center; padding-top: 8vh; } .auth .card { box-shadow: none; padding: 20px 12px; background: none; } }

.toasts { position: fixed; top: 14px; left: 50%; transform: translateX(-50%); display: grid; gap: 8px; justify-items: center; z-index: 60; width: min(460px, calc(100vw - 24px)); pointer-events: none; }
.toast { display: flex; align-items: center; gap: 12px; padding: 11px 16px; border-radius: 12px; background: #1d2430; color: #f4f7fc; box-shadow: var(--shadow-large); pointer-events: auto; animation: drop 0.18s ease-out; }
.toast button { color: #a9c4ff; font-weight: 600; }
@keyframes drop { from { transform: translateY(-12px); opacity: 0; } }
.viewer { position: fixed; inset: 0; width: 100vw; height: 100dvh; max-width: none; max-height: none; border: 0; padding: 0; background: rgb(8 10 16 / 94%); color: #fff; }
.viewer[open] { display: grid; grid-template-rows: auto 1fr; }
.viewer .bar { color: #fff; }
.viewer .icon-button { color: #fff; }
.viewer .icon-button:hover { background: rgb(255 255 255 / 14%); color: #fff; }
.viewer .stage { display: grid; place-items: center; min-height: 0; padding: 8px; }
.viewer img { max-width: 100%; max-height: 100%; min-height: 0; object-fit: contain; }
body > .toasts { --below: 56px; } /* below the header of a chat */
.toasts[popover] { margin: 0; inset: calc(14px + var(--below, 0px)) auto auto 50%; border: 0; padding: 0; background: none; overflow: visible; color: inherit; height: auto; }
dialog.scrolls form { overflow-y: auto; }
.profile-head { display: grid; grid-template-columns: minmax(0, auto); justify-content: center; justify-items: center; overflow-wrap: anywhere; gap: 4px; text-align: center; padding-bottom: 6px; }
.codes { font-family: var(--mono); background: var(--field); border-radius: 10px; padding: 12px 16px; user-select: all; }
.results { flex: 1; min-height: 0; overflow-y: auto; }
/* Two lines, so that the found words are visible on a narrow screen. */
.results .row[data-hit] .preview { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; white-space: normal; overflow-wrap: anywhere; }
dialog .section-title:empty { padding: 0; }
.search-filters { display: flex; flex-wrap: wrap; gap: 8px; }
.search-filters .days { flex: 1 1 100%; }
.search-filters select.input { min-width: 0; flex: 1 1 130px; font-size: 14px; }
.dialog-fields { display: grid; gap: 12px; justify-items: stretch; } .dialog-fields > .button { justify-self: start; } .dialog-fields:empty { display: none; }

.qrcode { width: 208px; background: #fff; border-radius: 12px; align-self: center; }
.qrcode path { fill: #000; }
.button-row.centered { justify-content: center; }
.button-row, .input-pair { display: flex; gap: 8px; flex-wrap: wrap; }
.input-pair .input { flex: 1 1 160px; min-width: 0; }
.chips { display: flex !important; flex-wrap: nowrap; overflow-x: auto; gap: 6px !important; }
.chips .chip .face, .row .face { font-size: 20px; }
.chips .chip { max-width: 220px; }
.row .choice { max-width: 45%; flex: none; text-align: right; overflow-wrap: anywhere; }
.button-row .chip { background: var(--accent-soft); color: var(--accent); }
.button-row .chip:hover { background: var(--selected); }
dialog .section-title { padding-inline: 20px; }
.version:last-child { border-bottom: 0; }
.pins { padding: 0 12px 12px; overflow-y: auto; }
.pins .row { border-radius: 12px; }
.version { padding: 10px 0; border-bottom: 1px solid var(--line); }
.version .text { white-space: pre-wrap; overflow-wrap: anywhere; }
/* Calls: the card of a ring, the screen with its tiles and controls, the line of a call in a chat. */

.call-button { --size: 52px; display: inline-grid; place-items: center; width: var(--size); height: var(--size); border-radius: 50%; flex: none; color: #fff; background: rgb(255 255 255 / 16%); transition: background var(--quick); }
.call-button:hover:not(:disabled) { background: rgb(255 255 255 / 28%); }
.call-button:disabled { opacity: 0.45; }
.call-button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
.call-button.off, .call-button[aria-pressed="true"] { background: #fff; color: #161b26; }
.call-button.hang-up, .call-button.hang-up:hover:not(:disabled) { background: #c62339; color: #fff; }
.call-button.answer, .call-button.answer:hover { background: #14804a; color: #fff; }
.call-button .icon { width: 24px; height: 24px; }

.call-ring { position: fixed; top: 14px; left: 0; right: 0; margin: 0 auto; display: flex; align-items: center; gap: 14px; width: min(440px, calc(100vw - 20px)); padding: 14px 16px; border-radius: 20px; background: #1d2430; color: #f4f7fc; box-shadow: var(--shadow-large); z-index: 50; outline: none; animation: drop 0.18s ease-out; }
.call-ring:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.call-ring .lines { display: grid; min-width: 0; }
.call-ring .small { color: #c3ccdc; overflow-wrap: anywhere; }
.call-ring .answers { display: flex; gap: 10px; }
.call-ring .call-button { --size: 46px; }

.call-screen { position: fixed; inset: 0; display: grid; grid-template-rows: auto minmax(0, 1fr) auto; background: #10141b; color: #f4f7fc; z-index: 30; outline: none; }
.call-head { display: flex; align-items: center; gap: 12px; padding: 14px 18px; }
.call-head .lines { display: grid; min-width: 0; }
.call-status { color: #c3ccdc; font-size: 14px; font-variant-numeric: tabular-nums; }
.call-head .call-button { --size: 42px; }
.call-stage { position: relative; min-height: 0; padding: 0 12px; }
.call-face { display: grid; place-content: center; justify-items: center; gap: 16px; height: 100%; text-align: center; }
.call-grid { display: grid; gap: 8px; height: 100%; grid-template-columns: 1fr; grid-auto-rows: minmax(0, 1fr); }
.call-grid[data-count="0"] { display: none; }
.call-grid:is([data-count="2"], [data-count="3"]) { grid-template-columns: 1fr 1fr; }
.call-grid[data-count="3"] .tile:last-child { grid-column: 1 / -1; }
.tile { position: relative; min-width: 0; min-height: 0; border-radius: 18px; overflow: hidden; background: #1b212b; display: grid; place-items: center; }
.tile video { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; opacity: 0; }
.tile.with-video video { opacity: 1; }
.tile.with-screen video { object-fit: contain; }
.tile.with-video .tile-face { display: none; }
.call-grid[data-count="1"] .tile.with-video video { object-fit: contain; }
.tile-note { position: absolute; top: 12px; left: 50%; transform: translateX(-50%); padding: 4px 12px; border-radius: 12px; background: rgb(8 10 16 / 70%); font-size: 13.5px; }
.tile-note:empty { display: none; }
.tile-name { position: absolute; left: 10px; bottom: 10px; max-width: calc(100% - 20px); display: flex; align-items: center; gap: 8px; padding: 4px 10px; border-radius: 12px; background: rgb(8 10 16 / 70%); font-size: 14px; }
.tile-muted .icon { display: block; width: 17px; height: 17px; }
.bars { display: inline-flex; align-items: flex-end; gap: 2px; height: 13px; }
.bars i { width: 3px; border-radius: 1px; background: rgb(255 255 255 / 35%); }
.bars i:nth-child(1) { height: 40%; } .bars i:nth-child(2) { height: 70%; } .bars i:nth-child(3) { height: 100%; }
.bars[data-level="3"] i { background: #4ecb8d; }
.bars[data-level="2"] i:not(:last-child) { background: #f0bd6a; }
.bars[data-level="1"] i:first-child { background: #ff8794; }
.own-tile { position: absolute; right: 24px; bottom: 12px; width: min(220px, 30%); aspect-ratio: 4 / 3; box-shadow: var(--shadow-large); border: 1px solid rgb(255 255 255 / 18%); }
.own-tile video { opacity: 1; transform: scaleX(-1); }
.own-tile.with-screen video { transform: none; }
.call-controls { display: flex; justify-content: center; flex-wrap: wrap; gap: 12px; padding: 16px 12px max(18px, env(safe-area-inset-bottom)); }
.call-screen.is-over .call-grid, .call-screen.is-over .own-tile { display: none; }

.call-screen.small-call { inset: 74px 18px auto auto; width: min(300px, calc(100vw - 24px)); border-radius: 20px; overflow: hidden; box-shadow: var(--shadow-large); grid-template-rows: auto 150px auto; }
.small-call .call-head { padding: 8px 8px 8px 16px; cursor: move; touch-action: none; user-select: none; }
.small-call .call-controls { gap: 8px; padding: 8px; }
.small-call .call-controls .call-button { --size: 42px; }
.small-call :is([data-action="screen"], [data-action="picture"], [data-action="devices"]), .small-call .call-face h2 { display: none; }
.small-call .call-face .avatar, .small-call .tile-face .avatar { --size: 64px; }
.small-call .own-tile { right: 16px; bottom: 6px; }
@media (max-width: 720px) {
  .call-controls { gap: 8px; }
  .call-controls .call-button { --size: 48px; }
  .call-grid[data-count="2"] { grid-template-columns: 1fr; }
  .own-tile { right: 22px; width: 30%; aspect-ratio: 3 / 4; }
  .call-screen.small-call { inset: 68px 12px auto auto; width: 220px; grid-template-rows: auto 110px auto; }
  .call-ring { flex-wrap: wrap; }
  .call-ring .answers { width: 100%; justify-content: space-evenly; }
}

.call-bar { display: flex; align-items: center; gap: 12px; padding: 7px 16px; background: var(--accent-soft); border-bottom: 1px solid var(--line); font-size: 14px; flex: none; }
.call-bar .icon { color: var(--accent); width: 20px; height: 20px; }
.call-line .link { flex: none; }
.bubble > .call-line + .meta { margin-top: 0; }

"""#))

    private static let _css_test_c418217cb9644eda_css = EmbeddedFile(path: "css/test-c418217cb9644eda.css", content: .text(#"""
/* Colors, sizes and fonts. Every text color has a contrast of 4.5 or more on the surfaces on which it is used. */

@font-face {
  font-family: "Color Emoji";
  src: local("Apple Color Emoji"), local("Segoe UI Emoji"), local("Noto Color Emoji");
  unicode-range: U+1F000-1FBFF, U+2600-27BF, U+2B05-2B55, U+231A-231B, U+23E9-23F3, U+FE0F, U+200D, U+20E3, U+E0020-E007F;
}

:root {
  color-scheme: light;
  --accent: #2458c5;
  --accent-hover: #1c49a8;
  --on-accent: #ffffff;
  --accent-soft: #e3ebfb;
  --page: #e9edf3;
  --surface: #ffffff;
  --raised: #ffffff;
  --field: #eef1f6;
  --field-line: #868fa0;
  --hover: #f1f4f9;
  --selected: #dfe8fa;
  --line: #dfe4ec;
  --text: #161b26;
  --muted: #566074;
  --thread: #e8edf4;
  --theirs: #ffffff;
  --own: #d6e4ff;
  --own-muted: #44567c;
  --pill: rgb(222 229 240 / 94%);
  --online: #14804a;
  --warning: #8a5200;
  --warning-soft: #fdf0d7;
  --danger: #b81f36;
  --danger-soft: #fde8eb;
  --mark: #ffe49a;
  --avatar-l: 0.52;
  --name-l: 0.47;
  --shadow: 0 1px 1px rgb(22 34 66 / 9%);
  --shadow-large: 0 16px 48px rgb(18 28 58 / 22%), 0 2px 8px rgb(18 28 58 / 10%);
  --scrim: rgb(16 22 38 / 42%);
  --radius: 12px;
  --quick: 0.13s;
  --latin: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans";
  --cjk: "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC";
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "Liberation Mono", monospace;
  font-family: "Color Emoji", var(--latin), var(--cjk), sans-serif;
  font-size: 15px;
  line-height: 1.42;
  -webkit-text-size-adjust: 100%;
}

:root[data-theme="dark"] {
  color-scheme: dark;
  --accent: #8db0ff;
  --accent-hover: #a9c4ff;
  --on-accent: #0c1730;
  --accent-soft: #223255;
  --page: #0e1116;
  --surface: #171b22;
  --raised: #1f242d;
  --field: #252b36;
  --field-line: #7b8699;
  --hover: #20262f;
  --selected: #24345a;
  --line: #2a313c;
  --text: #e9edf4;
  --muted: #a3adbf;
  --thread: #10141a;
  --theirs: #212832;
  --own: #254176;
  --own-muted: #b4c7ee;
  --pill: rgb(36 43 54 / 94%);
  --online: #4ecb8d;
  --warning: #f0bd6a;
  --warning-soft: #3a2d15;
  --danger: #ff8794;
  --danger-soft: #401d25;
  --mark: #6b5510;
  --avatar-l: 0.5;
  --name-l: 0.79;
  --shadow: 0 1px 1px rgb(0 0 0 / 30%);
  --shadow-large: 0 18px 50px rgb(0 0 0 / 60%);
  --scrim: rgb(0 0 0 / 60%);
}

:root:lang(zh) { font-family: "Color Emoji", var(--latin), var(--cjk), sans-serif; line-height: 1.5; }

@media (prefers-reduced-motion: reduce) {
  :root { --quick: 0s; }
  *, ::before, ::after { animation-duration: 0.01ms !important; transition-duration: 0.01ms !important; scroll-behavior: auto !important; }
}

@media (forced-colors: active) {
  .bubble, .card, .menu, .avatar, .badge, .reaction, .chip, .day-pill { border: 1px solid CanvasText; }
  .row[aria-selected="true"], .row[aria-current="true"], .chip[aria-pressed="true"] { outline: 2px solid Highlight; }
  .icon { forced-color-adjust: auto; }
}
/* Elements, buttons, fields and the panes. */

* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; overflow: hidden; }
body { background: var(--page); color: var(--text); -webkit-font-smoothing: antialiased; overscroll-behavior: none; }
h1, h2, h3, p, ul, ol, figure, pre, blockquote, fieldset, legend { margin: 0; padding: 0; border: 0; }
ul, ol { list-style: none; }
h1 { font-size: 22px; line-height: 1.25; }
h2 { font-size: 16px; line-height: 1.3; }
h3 { font-size: 13px; font-weight: 600; color: var(--muted); }
[hidden] { display: none !important; }
button, input, textarea, select { font: inherit; color: inherit; }
button { cursor: pointer; border: 0; background: none; padding: 0; touch-action: manipulation; text-align: inherit; }
button:disabled { cursor: default; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
::selection { background: rgb(90 130 240 / 32%); }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { width: 22px; height: 22px; fill: none; stroke: currentcolor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; flex: none; }
.icon-more { stroke-width: 3; }
.grow { flex: 1; min-width: 0; }
.ellipsis { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.muted { color: var(--muted); }
.small { font-size: 13px; }
.danger { color: var(--danger); }

.icon-button { display: inline-grid; place-items: center; width: 40px; height: 40px; border-radius: 50%; color: var(--muted); transition: background var(--quick), color var(--quick); flex: none; }
.icon-button:hover, .icon-button[aria-expanded="true"] { background: var(--hover); color: var(--text); }
.icon-button:focus-visible { outline-offset: -2px; }
.button { display: inline-flex; text-decoration: none; align-items: center; justify-content: center; gap: 8px; min-height: 40px; padding: 8px 18px; border-radius: 10px; font-weight: 600; color: var(--accent); background: var(--accent-soft); transition: background var(--quick); }
.button:hover:not(:disabled) { background: var(--selected); }
.button.primary { background: var(--accent); color: var(--on-accent); }
.button.primary:hover:not(:disabled) { background: var(--accent-hover); }
.button.dangerous { background: var(--danger-soft); color: var(--danger); }
.button.danger { color: var(--danger); }
.button.quiet { background: none; }
.button.quiet:hover { background: var(--hover); }
.button.wide { width: 100%; }
.button.small { min-height: 34px; padding: 5px 14px; font-size: 14px; white-space: nowrap; flex: none; }
@media (pointer: coarse) { .button.small { min-height: 40px; } }
.button:disabled { opacity: 0.55; }
.link { color: var(--accent); font-weight: 600; border-radius: 4px; }
.link:hover { text-decoration: underline; }

.field { display: grid; gap: 5px; font-size: 13px; color: var(--muted); }
.input { width: 100%; min-height: 42px; padding: 9px 13px; border: 1px solid var(--field-line); border-radius: 10px; background: var(--surface); color: var(--text); font-size: 15px; outline: none; }
.input.search { border-color: transparent; border-radius: 21px; background: var(--field) no-repeat; padding-left: 40px; }
.input:focus { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.input::placeholder { color: var(--muted); opacity: 1; }
.input[aria-invalid="true"] { border-color: var(--danger); }
input[type="search"]::-webkit-search-cancel-button { display: none; }
select.input { appearance: auto; width: auto; min-width: 150px; padding: 7px 10px; min-height: 38px; }
input[type="checkbox"], input[type="radio"] { accent-color: var(--accent); width: 18px; height: 18px; margin: 0; flex: none; }
.switch { appearance: none; position: relative; width: 40px !important; height: 24px !important; border-radius: 12px; background: var(--field-line); transition: background var(--quick); cursor: pointer; }
.switch::after { content: ""; position: absolute; top: 3px; left: 3px; width: 18px; height: 18px; border-radius: 9px; background: #fff; transition: transform var(--quick); }
.switch:checked { background: var(--accent); }
.switch:checked::after { transform: translateX(16px); background: var(--on-accent); }
@media (forced-colors: active) { .switch { appearance: auto; } .switch::after { display: none; } }
.search-box { position: relative; flex: 1; min-width: 0; }
.search-box .icon { position: absolute; left: 12px; top: 11px; width: 20px; height: 20px; color: var(--muted); pointer-events: none; }
.form-error { color: var(--danger); font-size: 14px; }
.form-error:empty { display: none; }

.avatar { --h: 250; --size: 48px; position: relative; display: inline-grid; place-items: center; width: var(--size); height: var(--size); border-radius: 50%; flex: none; background: oklch(calc(var(--avatar-l) + var(--shade, 0)) 0.13 var(--h)); color: #fff; font-weight: 600; font-size: calc(var(--size) * 0.38); line-height: 1; letter-spacing: -0.01em; user-select: none; }
.avatar.symbol { background: var(--accent-soft); color: var(--accent); }
.avatar.square { border-radius: 32%; }
.avatar img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; border-radius: inherit; }
.avatar .icon { width: 52%; height: 52%; }
.avatar.size-s { --size: 34px; }
.avatar.size-m { --size: 42px; }
.avatar.size-xl { --size: 96px; }
.presence-dot { position: absolute; right: 0; bottom: 0; width: 13px; height: 13px; border-radius: 50%; background: var(--online); border: 2px solid var(--surface); }
.size-xl .presence-dot { right: 7%; bottom: 7%; width: 18px; height: 18px; }
.size-s .presence-dot { width: 11px; height: 11px; right: -1px; bottom: -1px; }
.picked .presence-dot { display: none; }
.badge { display: inline-grid; place-items: center; min-width: 22px; height: 22px; padding: 0 7px; border-radius: 11px; background: var(--accent); color: var(--on-accent); font-size: 12.5px; font-weight: 700; font-variant-numeric: tabular-nums; flex: none; }
.badge.quiet { background: var(--muted); color: var(--surface); }
.badge.mention { padding: 0; }
.icon-button { position: relative; }
.icon-button > .badge { position: absolute; top: 1px; right: -1px; min-width: 18px; height: 18px; padding: 0 5px; font-size: 11px; box-shadow: 0 0 0 2px var(--surface); }

#app { height: 100%; }
.panes { display: grid; grid-template-columns: minmax(280px, 26vw) minmax(0, 1fr); height: 100%; max-width: 1680px; margin: 0 auto; background: var(--surface); }
.panes.with-details { grid-template-columns: minmax(270px, 24vw) minmax(0, 1fr) minmax(290px, 25vw); }
.pane { position: relative; display: flex; flex-direction: column; min-width: 0; min-height: 0; height: 100dvh; background: var(--surface); contain: layout paint style; }
.pane.side { border-right: 1px solid var(--line); }
.pane.details { border-left: 1px solid var(--line); }
.bar { display: flex; align-items: center; gap: 6px; min-height: 60px; padding: 8px 12px; flex: none; }
.bar h1, .bar h2 { flex: 1; min-width: 0; }
.scroller { position: relative; flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin; scrollbar-color: var(--field-line) transparent; }
.banner { display: flex; align-items: center; gap: 10px; padding: 8px 16px; background: var(--warning-soft); color: var(--warning); font-size: 14px; flex: none; }
.banner .icon { width: 18px; height: 18px; }
.empty { display: grid; place-content: center; justify-items: center; gap: 10px; padding: 32px; text-align: center; color: var(--muted); height: 100%; }
.empty.after { height: auto; padding-top: 48px; }
.empty.alone { height: auto; flex: none; padding: 12px 24px 28px; }
.empty h2 { color: var(--text); }
.empty .logo { width: 84px; height: 84px; fill: var(--accent); opacity: 0.85; }
.only-narrow { display: none !important; }

@media (max-width: 1100px) {
  .panes.with-details { grid-template-columns: minmax(270px, 32vw) minmax(0, 1fr); }
  .panes.with-details .pane.details { position: absolute; right: 0; top: 0; width: min(380px, 100%); box-shadow: var(--shadow-large); z-index: 5; }
}
@media (max-width: 720px) {
  .panes, .panes.with-details { display: block; }
  .pane.side { border: 0; }
  .panes .pane.thread-pane, .panes.has-open .pane.side { display: none; }
  .panes.has-open .pane.thread-pane { display: flex; }
  .panes.with-details .pane.details { position: fixed; inset: 0; width: 100%; border: 0; }
  .only-narrow { display: inline-grid !important; }
  .only-wide { display: none !important; }
}
/* The test page: controls on the left, every packet on the right. */

html, body { overflow: visible; }
body { display: flex; flex-direction: column; min-height: 100dvh; }
code, .log li, dd { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; }
.head { display: flex; align-items: center; gap: 14px; padding: 16px 24px; background: var(--surface); border-bottom: 1px solid var(--line); }
.head h1 { font-size: 20px; letter-spacing: -0.01em; }
.head div { flex: 1; min-width: 0; }
.head p { color: var(--muted); font-size: 14px; }
.head .state { padding: 6px 14px; border-radius: 99px; background: var(--field); font-weight: 600; }
.state[data-state="open"] { background: color-mix(in srgb, var(--online) 16%, transparent); color: var(--online); }
.state[data-state="connecting"], .state[data-state="waiting"] { background: var(--warning-soft); color: var(--warning); }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: 360px minmax(0, 1fr); gap: 18px; padding: 18px 24px 24px; width: 100%; max-width: 1400px; margin: 0 auto; }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: 18px; box-shadow: var(--shadow); }
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
.buttons .button { text-align: center; }
.two { grid-template-columns: 1fr 1fr; }
.button:disabled { opacity: 0.45; }
.buttons .wide { grid-column: 1 / -1; }
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

    private static let _img_icon_192_png = EmbeddedFile(path: "img/icon-192.png", content: .base64("""
iVBORw0KGgoAAAANSUhEUgAAAMAAAADACAYAAABS3GwHAAAQAElEQVR4nOzdCXxU1b0H8N+5M9kDIWGHiJBMBBFBEZElINq6UKuoNRqQurW2apcndtFqF1+1
1ipdbPvU6qvPFSJRFrFutbJIEG3KIhCWTELYISAkIftk7nnnfyEYkkyY5c5k7p3/9/MZZiWE5P+/59z/PYsTFpN106dnQXpcEFoOhJ4jgGwBkQEpUyWQqh6n
QiADzHwSRyRkrfqZ10KIWvVYPUcZpFYKqZfC6SwtnzehFBYiEMUGXV2cnJTceLH6JqdKIaaq+wvVy3Fg0UuiWQoUq+RYoenaivqG+I/3LR1XjygVVQmQlVec
Bq15ihC6CnoxVR3Vx6ojjRPMuqRsUb/DtVLKFeogtqKmXq48/FbuMUSJqEiAQTOL+yTqTXlCYKY6guSq+6humVhwpGoW1G92lbqb16LJ13fNm3IU3axbAy07
b7VLaPJB9V3MBndtYo1H3V7xeuUTOwpzt6GbdEsCuPJXny+l/nPVNF6rvgENLGapk2hdSCxSfzxeXpBbjAiLaAK4rl+TiXjvb1VTeDN3c1hbJ7pHr4pmx4Pu
hRP2IEIiEoRUzUlMbvyxivn7VeAngzEfVCLUq1T4rTjW70n3uzlNCLOwJ0DWjatnapp8Qj3MBGP+kijzSm3OjgUTlyKMwpYA/b+5ISW1ufZVdcS/FowFSbUI
i2vjU2cffGVMHcIgLAnguumTsercZoH66tlgLFSqNVC1khvdr09cC5OZXIGRwnVT0X0Q+hoOfmYaiiUVU678VXNgMvNagIel5tq6+nn16A4wFiaqbPp8mXfS
3SgUXpjAnATI2xSfrVUtFkJMB2PhJvG2W0/7BgpHNSNEISeA6+Y1PeH1vqUeXgzGIkRKuUzqideVF46rRghCSoDMvNWDExz6+6q+fw4YizBVIdoodO9X3IVT
DyFIQZ8E983blMrBz7qTKrGfKzXHRxSLCFJQCeCaXpqQ5qhaysHPuptKglE9HdVLKCYRhCASQAr0rHxD/dPTwFgUUP34S5F2cIERmwEKOAGy84ueVv/i18FY
VBHXZOUX/QUBCihjsvJX3aVBPAPGopQOeXd5Qe6z/n7e7wRw5a0ZKTXvv3k0J4tusk5F9UXu+bmb/fm0X10gVe5Mko6WBRz8LPqJFKmLAhqC78+n/UoAVe58
his+zCqoMpSU3PgHvz57ug+48j+ZpnpWy8CYxei6dln5gokfdvWZrluAh6UmpdfvEwrGookmvE9RDHf5ma7ezNpS9EMhxHAwZkVCjKQY7vIjvt4wJrDHtZSo
L9IDjFmVlMfqtcSsffPHHe7sbZ8tgIxr+TkHP7M8FcNJeuOjPt/u7MWheZ8NcGiecnU2nQTGLE5KNLR4ErJ3Lhy3v/17nbYAKvgf4OBndkGx7Ixrur/T99q/
wEd/ZkfUCnibkgdVLD6/qu3rHVoAp8NzLwc/sxujFUisv7fD622f0PLkQmusUKXPXmDMZiTkUW9jSlbbVuCUFkBoTdM5+JldCYh0R3zDtLavte8C5YMxOxPy
tlOetj6gTSqSZdM+8Dr9zN48sgmZZYsmV9KTky1Aot7Im1SwWBAnE+T1rU+0Lx+IK8FYDNCkOLlg8/EEyNsUr86Rp4GxGCCFvLh1FQkjAVyOY5NUoTSoZSUY
sxpVDUpE2uGJ9PhEF0ifBsZiyvGYb92DdxoYiy3T6A+jBZAS54GxGNIa84IGvzkdnv1gLMa0eOMGOp0O7wgwFoMo9jUdnAAsNlHsa4L7/yxGCSlGOIUQ3AKw
mCSAEZqUcgAYi0lygFNdAU4EYzFIAol0IYwTgMUmIXppKg04AVhsUrGvCUhOABaTKPadPAqUxSwV+0Fvk8qYHXACsJjGCcBimhOsU0mqd3jWGckYNjDJuA0f
koyMHnFIVK8nJTiM95PiHeiZ4ujwd6vrWlCxvxG7Kxux80Ajdhn3Dcbjw9UesOghXPlFEjGOgnjsWT1xfk4PnKduOZnJ6NsrPAtk1NR5sa60ButLa1G8rQZr
NlfDDMkqIS88Ow2Z/RKQGK9h++56fFpSjWZPzP96uxSTCTCwdzxyR6eroFcB7+oBV2b3LYXa0KSjaGMV3vvsC/yr+AhqG7wB/f2MnnG4a8Zg5F3SH6lJp7ZG
9eprz52/E6+8z9M9fImZBKCgv2piH1x5UR+McaUiWi1ZdQiFyw6qo3fNaT87bkRP/OXe4eiT1nVr9chLO/Dye5wEnbF1AlDQXz25rwr63jg3K3qDvjN0vvD6
RwexQN3onKK9b14xEL+8bZi/Xw7Tf7wO7r0NYKeyZQLcMK2fuvXHBcPtscPTopWH8Oc3dmHPoSbj+R1XDcLPZg9FIF5SLcCjqiVgp7JNFYhOXGd+tT+um9qv
Q1/Y6q6b2te4UfeIKkvfv/4MBOrsM1PAOrJ8Alw7pS9uvnygOpm1VhcnGDNy+yJYg/rwiJfOWDYBbr5sAO657gz0S+f1fFnwLJUA8U6B/K8OwHeuGYz+6fFg
/uMLcJ2zRALExwncdOkA3H1tZtguUNkdXYlmHUV9AuSpis59+WeettbNurZ22zGwjqI2AUYOTcFv7nRhVBZXL8xQtKkKrKOoS4C0FCd+MutM49K+JsBM0DoQ
j3UUNQkgVLDPUie4c24aYiQBM8+ijw+BdS4qIu2cYSmYe89Z3Toozc6+NqEPlqgkaL2SzL7UrRNiqItzz3WZKHxkNAd/GNG8hqW/Ow9Tx/AW0O1121igzL4J
+P33zzKGJHelqrYFR2o8+ELdjh478VjVtOubvKhv9BrDiRua1U09pteSabJKosMYH5+ceHziSoq6758Rj75p8eitqkl9e8XHbDn1b0v2Ym7BTrDjuqULRKXN
h27NUoF5vAGiIN6xvwFle9VtXz3K1T2NXKSTt+aW8OQntT5Zg5NwztBUY5zMSNUNo/teqfY+//jujMHIVv/vH/xpG1q8PFkmoi0ABdfjd+VgxJnJ+I+qS6/d
VqPua7Btdz3t2BEVhg5IxPiRaRg/oqdxT0Oq7eizkmp858ktqGvUEcsimgAXqqCiI72VLstTQkwa1QvTxqbjkvPTYSdbdtbhtsdKjG5lrOI5wQFIiNNUMqTh
iot64/ILe6NHsvWHXVNXM/9XGzuddBMLOAGCROOTaIrlrMusPxSbWoKZD2+Mye4QJ4AJaNjGLVcOxDcu7gerWrf9GG75zWY0NsdWEnACmIhKrLd/bZAxV8GK
s9JWrD+Kb/9uC2KJI2PUtx4GMwWVc1dvqsZrHxxQ1yh0YzEtWkTLKoYOSIKmKtP+rEhhF5wAYUDXLoq31uC1fx5Q1xsERrt6wGGRkX3jz04zzgnK98XG/AHu
AkXAGf0S8MDsYapylAEraPLomPHABnVR0v5JwIvjRsDuyiZ87w9bVc19M44ci/5yI5V7H787B7GAEyCCSirq1MmxNX7kVNqlE3q74wSIoO9ek4l4p3V+5Pfd
dAYG23w5FU6ACEnv4cTsK6y1JXNivANP3GPvrhAnQITcoboT1Le2mvFn98SlY+01BqotToAIoDFD31RXiq3qgdlDjSmrdsQJEAF0MkmTcqyKdsihRQrsiBMg
zGjSz61XWr+acm/eEGMAoN1wAoQZLeXY2T5iVkNTSK+fat3Bfr5wAoQR9Ztvs3Dfv71bbfR/acUJEEaXjcvAgN72qaO7MpONCUF2wgkQRrdON7/vf/OvNxl7
iHWXW2zWCnAChMmIIclGDd1M//1/5fhsSw0efK4M33q8xFgeJtK+ckEGBve1T6vGCRAmZh/9lxYdxqsfHDj5fOWGKlz+o7VYtu4oIs1OJ8OcAGFAa5teM7kP
zFK2t14d9d0dXqdNt7/zxBb8ccEu6BEc1E7bUtkFJ0AYzLpsgKqZm/OjpY2z75q7tcu5uk8v2oNvqy4RJUQkDOmfaOxRbAecACaj0uctJg56m/PnbajwY2nz
jz+vwjUPrDdai0i43sILALTFCWCyS8dmoE8vc1aTe3bxHixf7//GFnsPN+GGX2w0JreH2/SLesMOOAFMRt0fM7z76Rf4/eu7ECjqMtHKDs8v3YtwolUv7LAR
OSeAiQZkxGPK6NAvFG3eUYsf/WU7QvHEvJ14SJ0462E8O546xvrDpDkBTEQXiUSI44Zp/vDtvy2Bx4SVmxcsq8SdqkpEy7WEQ+5o6+83wAlgkjinwMyvhDZk
uLq2xZg4f9TEifN0vYAm5IdjKfRzs1Isvz4qJ4BJvjaxD1KTQ9tbgJYr33XQ/M3sqEL002dKYTZq7XLPtXYrwAlgkhtDnDDyw6e2Ye328O3lS1eSf/3iDpht
jMvaJ8KcACYY1CchpHE/T87fiXfXfIFwe+X9/XiqcDfMdG62tVfG5gQwAW3vGqyCfx3Ac2+Ft2TZ1l8X7sZL7+6DWUZnp1h6vjAngAmCvSpKA9l+8b/liLRH
X67AopXm7B1MS6dkDbTuDp+cACGadn56UDtOUq3/B3/chu5Cg+toEVwzWLkbxAkQomBWS9h7qNGo9dMitN2FyqJ3z91qXDkO1fAhKbAqToAQ0JXfQFd8pn2P
KfiPRsEiuTR2yIzy6Jn9E2FVnABBOmdYCt58dHRAf6ehyYs7VPDv2G9+rT9Y//z3Ecz78ABCMYzPAWJLvrriu+DXo9Ev3f9Rn80tujFIbWN5LaLNb17eEdKG
GMMGcQsQE+IcAk/e48Ij385GvNP/2p9Xl/j+H7YZ83mjUbNHGjvHU5IGg3a/GWTRVaQ5AfxE/X066l87JfCS5/3Purtl7m4gtu+ux/8s3INg0S44VsQJ4IcJ
5/TEW4+PwaiswKsdj7y0A0s+NqfmHm5/W7In6K5Q7zRzJgFFGifAadx59WC8+OAopPcIvNa/T1VZXn5vP6zCq1NrFVxVKD01tIGA3YUTwIekBA1/nTMcP511
purjIijrSsM3uC1c1pfW4s0VlQhUGieAfQwbmIjFj43BFeNDm/e6wR19FR9/0OC8pgB3jO/FCWAPl5yfbgR/1qDQa9tWbAEIrTj3wjuBDZgLposYDTgB2phz
4xA899OzkWzSZhYlFdZsAcgzi/cEtKVrj2RuASyLpvW98LORuOe6TJiFuj9UX7cqmkf8zCL/5w44LTozMuYTgBaxXapKnFNMnuC9wW3N7k9br31wAJVHm/36
rNNhzVCK6QSYkdvXGM8zuK/5l/LX2yABaGUK6gr5w6LxH7sJ8PDtWZj7vZyA1vCsPOrxe23+9RY9AW6PVqQ+8MXpWwFNs+a0MGueuYSAJq88fd8InJdz+snc
NFb+05IaFG2sMm6tV0lzR6djYG/fVz6P1HiM9X3s4u//2IuHbhnW5WccnADRb4wrFc/95Gxk9Oy8ZEdXQmm05qrPj6qAr8a67TXGa+1RdWdgb9/zANZbtP7v
C7V6/5U3xFgO0RerdoFiJgFo1Tba8JlGdLa1q7IRRZ9XnzzK+zNDqqSiztgpxRe7dH9a1TXqRhLQfse+eLzWrHjZPgESVB//d3e7cNXE4xtW0Br6n2w+CDFr
1AAABoRJREFUHuwU+JQAgdq8o+u5tHaoALX393/sM3aJ9NXXD9fyi+Fm6wSgMerP/ngE6tRRndbDoa7N52W1Ie+mcroLXBvK7NUFIgePNGPFhirjSnln6hoj
szmH2WyfAPm/2oh6k49O+1VVhOb0pvfo+OOjcfV1DdYMhtNZ8NFBnwlQb9EEsHUZtHhrjenB38rXkiJ2PPq3Wr7uqFHh6oxVu0A8FCJIdCLcGbudALdFS6ks
WdX55B6rdoE0SGmfgnUE+ToPWLfdvglAFvqYK1BrxW6fin1NCuH/JlTspJJOKkGNzV64I7RJXXfZuqvemOnW3uEq/8YMRROKfeoCRc8iNRZSvr/BWOenLZpN
Ja07ANRvtNR6ewePWi8BlEbqAnECBIECfduuU4/2du7/t/XOmo4JUGnFBFCxrwkB7gIFqf0FMavOAAsUFQDaj3Wi6wRWQ7GvSSlCWxcvhpXsjM0EIB8Wf7mh
B1WHaM1Tq6HYp3OACrCgtK0E7TnUFBUL3kbKsrVfLvRl0f4/qVBVILkVLCibyr9sAexe/mzvk83VJ0uf+w9bs5JOsa9pcHAChGDriRNhOw6AO52PNxw/fbTq
3AeKfa2Fu0AhoZ1eSCz1/1stX3+8G1RxIPiVpbsTxb5WMWLCLimlPUdvRcAWVRHxtOg+h0bY2coTCbCn0oKVdClrKfY1PCx0VQ4qBgsKBf7mivqw7MQe7Q5X
e4z5FOHY3DvshPgPxf6JwXDiPbCg0BTKWOz/t1qzqdqaCaB6cPTHiQTQloMFpbFZt8zy5+Hw8edVAa0gFz2Ox7wxv801vTRBph2sEhDW3euGMX9J2eTWe/VE
4ahmowVwv5vTpIL/UzAWE8RyCn56dHJCjC7lYjAWA3TxZayfTADRLOapOw8YszdPo0h8o/XJyQQoWzS5Ukq8A8ZsjGJ83/xxJ8dzt58TXADG7EyKF9s+PSUB
avS0t1WKxG5Rm9mcrCurbHq77SunJMChwlG16grZ02DMlsRfsfySUy5adFgWxdOc8JTqJ1lzdBNjPlBMt3jj/tT+9Q4JsHPhuP3q4y+DMVuRL1cUju8w+7HT
hbGkw/l7lTKxM72J2RvFsq7N7eytThOgfN6EUinEm2DMBqTAa2WFk9ydvedzaUQpnb/kVeOY5akYljLuMV9v+0yA8tcv2q4qQo+DMStTMWzEsg9dLo7r9qY9
JqXcBsYsiGKXYrirz3S9OnThqGYhHHeBMQsSmvbd1lGfvpx2eXR3wcTlKpP+BsYshGLWPX/SitN9zq/9AZp0bY6E3AzGrEDKEopZfz7qVwLsKZzUILzOG9XV
NHuv/c0sj2LUA8cNFLP+fN7vHWLchRNKIPA9MBbNVIzufH3iFn8/HtAWSWUFk19UGfYUGItCFJsUo4H8nSD2t5fClb+axgrNBmPR41V3waRbVEgHtEBTEJvk
Cen2TrpN/SsfgbEoQLFIMRlo8JPgdoksFN4ab9oM1eRsAmPd6zOKRYpJBCHobVJp8kyLJ+FylX5lYKw7qNhr9IrpxkSuIIW0TzDNHdD1hAvURYdlYCyyVsDp
GKvKnUcQgiBOgjuRtynepVW/qb7a18FYuEkUuvW02acb5uAPcxKA5ElHtmP1M+oL3gnGwucFd8Hkb8Ek5iXACdn5RXeqDH1KCCSBMZPQnF4p5H3lBbnPwkSm
JwBx5a0ZKR0tCwTEOWAsRDQOjYbiGKMRTBbSSbAv9I2K6v4XqIevgrEQqOB/1pvoGReO4CdhaQHaysovukqj4RMC2WDMb7Lcq4vbdyyYvBJhFPYEILT/ANIO
/khK8ZA6N0gGYz6cGHH8mKjpN5eW7UeYRSQBWmXnf3YG0DxXnRvcCMbaU+VNeBz3uRdO2IMIiWgCtMrKXzVOSPwMQlwrwnQewqxBAro67C8WQnvUXTBpHSKs
WxKg1bC8VcMdmrhffRc0sjQOLJZ4VPS/KnXxmK81eyKhWxOg1aCZxX0SZeMNqms0S/1QctV5QlR8X8xcqn8v1W92lbqf36glFLZdp7+7RF2gGecJumem6hjN
UN/cJDDLU3G/SkixSIq4wrKC8bsRRaL6SDvo6uLk5KTmKbqmX6wahYvVecM49R3Hg0UvYzVB8akUWKkLubKpNrFo39JxUTuX3HJdjaxZa3LQ0pIDoambnqP+
A9kqOTLUDz5VnVClqsep6n+VAWY+iSPqaF6rfua0j0SteqyeowxSK4XUSyHi3F2twhaN/h8AAP//jJprpgAAAAZJREFUAwAFGhIc/PiRZgAAAABJRU5ErkJg
gg==
"""))

    private static let _img_icon_512_png = EmbeddedFile(path: "img/icon-512.png", content: .base64("""
iVBORw0KGgoAAAANSUhEUgAAAgAAAAIACAYAAAD0eNT6AAAQAElEQVR4nOzdB2CV1fnH8efcmwUBAsgGIZCwFKsoKkvF2Vb9uyoSFa12aK111Frb2mWHHdqh
rbbVLutgGOu21lGllaWigKwASQg77Ayyc+/5n3MRRQhJbu56x/fTXm8SgkIC9/m9zznvc9IEvtZ76vIuXYMVo5QK9FKhcDcJSFfz4W5hLV2VqG6ipJvofR8z
b3dVWnfb/7aI6iUAUkzvNP+oMn9Pq7VSkefI+/se1Vp0VUB9+DEdqNIB8zEd3lkd6l60o3DMXoFvKYHn2SKfE6geITqUb14ghovSw82LRL6Yt80fgD4CwJe0
yHbReq15LVhr3ilW9u1AYG1tTcbqLS+MqxV4GgHAQ3Ivnz8qLRT+FEUeQKxM52CrKRHF5vXDhAO1NqR0cSCklpQUTiwWeAIBwMVswQ/o8BTTqp9iUvxpSql+
AgCJtck85piIMMcEgznFsyeVCFyJAOAiFHwATqO1LjelZI59hMPhOesKJ68WuAIBwMEo+ADchkDgHgQAhxky9e2hacGm6WYB7kpT8EcKALhbkQ7LE8067Yn1
hSevEzgGAcABBly+qFencH2B+WZcKUqNFwDwIC2ywHQ0n6hVGbO3zBy3U5BSBIAU6XvV0uzsxuqLbNE3j7NN4U8TAPADrZu1qFe1Uk/UpGc/t+2xY2sESUcA
SKYpb6bl9U0/e9+VvlxkvvzZAgC+pmtMa+BZHQg8XrK14XWZc3qzICkIAEmQP23ueL3vSn+audLvLQCAQ2m9w7xWzg6p4ONlsya8LUgoAkCiTNXBYcEF05SE
v2XWvD4lAIB206I/0OHAL0r1hCelUIUEcUcAiLPca97MCtRlXBsQ/U1ztT9UAAAx0KVhkXtLu2X9VR4e1ySIGwJAnNhNfV0ba27SSt9qvqh9BQAQT5vCWv2q
JiP7L2wajA8CQIwGTZ3fMyuobzZvfs08jhAAQCLtMo/f14fU7zcVTtwt6DACQAflX7JwkKQ3f8N8Bb/Mbn4ASDZtugCBh6Ux8Jvip8dvEkSNABCloVPnjgwG
1LfMV266eTddAACpZPcFPBYK6XsYOxwdAkA72VZ/ZjB8t/mSXWe+aAEBADiGFgkrLQ/VNaZ9f/MzJ+8StIkA0Ja7dGBY0bzrAlrdbb5aPQUA4GS7tFZ3loye
8Be5S4UFh0UAaEVuwYKT03ToIVHqWAEAuIbW8r6SwJeLZ094X9AiAkAL8i6e10cy9L3my3OVUnyNAMCNWBZoHcXtQKbdn1807xbzZbnLvNdNAABewLJACwgA
H6LdDwDeZpcFzGv8TSWzJs4XEABo9wOAf5gQoEXpR0OhjG+XFZ5ULj7m34I35c20/H7pN9HuBwBfqgpr/cPSbU0P+PUIYl8GgN5Tl3fJCVb+0bw5XQAAfvZ4
ZSjnhh2FY/aKz/guAORNXXiCCoRmm995ngAAoKVEAvrC4pmTV4iP+GqiXf60ebepYGgBxR8A8BFTE3RYvZtXMO/L4iO+6AAMvuKtHumhwN+UkosEAIDD0Fqe
bQqGv7Bhxil7xOM8HwBsy1+Czc8oUUcKAABt0KI3Sijt4pLC8e+Jh3l4CUCr/S1/ij8AoL1szbC1I79g7tdtLRGP8uRvbOjlC/sGw6FHze/uHAEAoKO0vNoY
DBd4cUnAcwFg2NS3Jqtg4CnzG+srAADEyC4J6JC+orTwlLniIZ5aAsibNq8gEFBvUvwBAPFilwRsbbE1RjzEMwEgr2D+7eZphiiVJgAAxNO+2jLDS7cKeiIA
5BXMvVeJvpdZ/gCARLE1xhSZh/ML5t4pHuDygqmVufJ/yPwmfDW8AQCQWlrkzyWzJl5vyqgWl3JtAMj/7NpM3W37IyaOeWpNBgDgDlrLrJJtjVe59TAhVwaA
vlctze7SWP2CUup0AQAgVbS8WJ3RpWDbY8fWiMu4LgDkXrS4e1pW7SvmzZMEAIDUe6e5vvOny54dWyEu4qoAkFfwzpGim14ybf9jBAAAhzDLAcukUc4qeWbS
dnEJ1wSAvKnz8yUYfoOxvgAAJzIhoFjC6rMlhROLxQVcEQCGTZ1/jArq180vto8AAOBQWmS7DqmzSgsnLhOHc3wAOLJg7oBMkbfML3WYAADgdFpK6hrTTt78
zMm7xMEcPQio1wVzu2aIvErxBwC4hpK8TpnN/7I1TBzMsQEg95o3s7p3lufNmv/RAgCAu5yU01k9K1PedOx4emcGgLt0IK0uo9DEqCkCAIALmTX2M/L7Zfzd
1jRxIEf+ovKK5j1ovnLnCwAA7jY9b9X834gDOS4A5BfMu8u0/b8iAAB4gFJyS/60+d8Wh3HUXQDDCuZ+JSDqjwIAgNeE5ariJyc9Lg7hmAAwbNr885XSzymP
HFEMAMAnaN1squ7nimdNfl4cwBEBIL9gwRQtoZdN6z9LAADwKC26PhwKnLaucOI7kmIpDwD5l8892rRFFphFEkffLwkAQJzs0lqmlMyetFxSKKXtdnuyn9bq
RYo/AMBHjjCX3y/YGigplNIAEMysfcS0IHIFAAAfsbUvmFXzN0mhlAWAYdPm3qqUXCgAAPiQEnWxrYWSIinZAzBs2rwTA0rmmTfTBQAAv9LSGAqrU1KxKTDp
HQC75mGu/J8Uij8AwO+UZASCevaA/1vUWZIs6QEgmFX7J9b9AQDYx9bETtn1f5AkS2oAyCuYd435jU4TAADwESXq87ZGShIlbQ9A/tSFR+lA6F3T/k96mwMA
AKfTWmpVQJ9UPHPyCkmCpHQAImsbgeZCij8AAC2zNdKEgKTtB0hKAIisbSh1lAAAgMMySwFHJ2s/QMIDwL51f/V5AQAAbUrWfoCE7gEYcPmiXp3D9aWM+gUA
IApaV9cGsoZtmTlupyRIQjsAnXT9ryj+AABEydTOSA1N5H9CEiTvsrmnq4B6QwAAQIeEtZxUOnvSu5IAiekATNVBEy3+KAAAoMPMVfqDkZqaAAkJAMMC825S
So0UAADQYUrJibamSgLEfQmAjX8AAMRRgjYExr0DwMY/AADiKEEbAuPaAWDjHwAAiRHvDYHx6wCw8Q8AgISJ94bAuAUANv4BAJA48d4QGJclADb+AQCQBHHc
EBiXDgAb/wAASII4bgiMuQMw7IqFw1UotNq0JhJ6rgAAALBNAPv/tFGls09eIzGIuQOgws3fpfgDAJActuYq1XSnxCimwj3kkkX909PrN5hfSpoAAIDk0Lq5
QcmQjbMmb5EOiqkDkJbe8C2KPwAASWZqb4ZWd0gMOtwBsFf/JgCUmFZEJwEAAEmltdQ1BcMDN8w4ZY90QIc7AOkZDbdQ/AEASA1bgzPCgVukgzrUAci9aHH3
YGbNOqVUdwEAACmhRe9pCAUGbiqcWCdR6lAHIC2z7isUfwAAUkuJ6pERCF8vHRB1B2DQ1PmdMoPhEvMf7S8AACDF9Jbi8qYhMuf05mh+VtQdgIxg+PMUfwAA
nEINyOuXMV2iFF0AmPJmmin+twkAAHAOrb9j/hFVVz+qAJDXN+NS828fLgAAwDGUUiPyLltwYTQ/J4oAEEkW3xQAAOA8gfB3o+kCtDsA5E+bd7JScrwAAADH
MUv042ytbu/ntzsAaFEFAgAAHCuaWt2+AHDdonQTLS4XAADgXEoKIjW7HdoVAPIqGs8ziwp9BAAAOJap1X3zqhvPbM/ntq8DENC0/wEAcAMdblfNbnO3YO+p
y7vkBCq2ilJdBAAAOJvW1RV1MnDn85OrW/u0NjsA3YKVl1L8AQBwCaW65nRWn2vr09oMAEoL7X8AAFykPbW71SWAvIvn9VGZssm82a4dhQAAwBGaQip45LqZ
47cd7hNa7QDoDH2FUPwBAHCbdBVubvX2/UAbP3iNAAAA1wmo1pcBDrsEkHv5/FFpWq8SAADgOlqLlrAaUVI4sbilHz9sB8AUfzb/AQDgUkqZ/wf19MP9+OGX
ALS+SAAAgHu1UstbXALIvWhx92Bm7W6bHgQAALiSFgk3hFTvTYUTdx/8Yy12AIIZdVMo/gAAuJsp5IFMJae29GMtLwEoPUUAAID7HaamtxgAlBAAAADwgsPV
9EPa/Kz/AwDgHYfbB3BIB4D1fwAAvONw+wAOXQJQ4c8IAADwjhb2AaQd+kmKAAAAgIe0tA/gE63+3IIFuWkSXicAAMAzWtoH8IklgKCEpwgAAPCUlvYBHLQH
gNv/AADwpIP2ARy0B0BNEQAA4DkH7wP4qANg1/9Ni2CIAAAAz9FKHWNr/f73PwoAwbA+TgAAgCfZfQAH1vqPlgCUklECAAA8S6tw7v63Awd8kAAAAICHmS7A
R7X+4w6AqFwBAACepZT6KAB83AEQlgAAAPAyU+tz978dCQD2BEDTFugrAADAu7QelH/lwm72zX0dgPTaXAEAAJ5mlgCCzY2hYfbtSAAIBmj/AwDgB/trfmQT
ILcAAgDgD/trfqQDwAZAAAD8QYvOtc+RAKC0JgAAAOAD+2cBfNgBULkCAAA8T+t9swBU7tR3+qUFm7YKAADwheb6zj3S0oIh2v8AAPhIWmbNqIDW4X4CAAB8
wy79B7TS3QUAAPiGrf0BEwOyBAAA+Iep/YGABAgAAAD4iK39acISAAAA/mKXALQmAAAA4Ce29psOgCIAAADgJ0qy2AQIAIDvqKw0JQQAAAD8RGnpHmATIAAA
PrNvE6AQAAAA8BFb+9kECACA3yjFJkAAAHwoK6BEEwAAAPAR9eEcgEwBAAD+YWp/QAAAgO8QAAAA8CECAAAAPkQAAADAhwgAAAD4EAEAAAAfIgAAAOBDBAAA
AHyIAAAAgA+lCYCo9OyaJl06p0m37KBkZwUlMz0gmRmBfc/mkZGuDng7IM0hLU3NYWls3vfcFHnW0tj08ccazNtVNSHZtqdRdlc1CQAkGgEAMPodkSH9j8iU
gb0yZYB9mLf7m+cjuqVL185B89hX8G1RT4byXY1SvrtBdlQ0yfaKRtlugsGOPfZjjbJxe72UldcLAMSCAADfsIV89JBsGX5kZxl5ZLbkDewkg3rvK/hOYwOJ
fbSmZEudrDdBYPWGmkggKDXvr91YIzX1YQGAtqj8gnlaAI85emi2jBqcLSMHd5b8QfsKfp8e6eIHdglhzcZaWbK2Wt5ZVSXvr6kiFAA4BAEArpYeVDLCFPkx
Q7vImGFdIs/2/Yw0JdgnbP6GF62vkXeLqmSRebyzslJ2VzeLl+Vkp0mvnHTp1iVNdplllA3bWTIBDkYAgKv0N23xScd0l7HDu0YK/lG52YLobdhWL/OWVcpb
H+yR+csqXN8hsEs5U8b2kAljusuEo3Miyz0Hsxssy7bWy4vzd5jHTtlbFxLAzwgAcLR+PTPkZPOCPv4o8zDP9oUe8ff+mmoTCCpk7gcVkbfdoEfXNLl0Sl/5
zMlHyKfyukT1c+sawvKXFzfLn1/YHHkb8CMCABzFtm5PPW7fVdyJo3Mkt1+WILnslfHCFZXyxnu75aUFO6XWgQXy2nMHyC1TB0t2Vmx3Zdi7LW57YE1kK+Gi
QQAAEABJREFUeQTwGwIAUs5e1duruDNP6CnHj+wmAZbvHeWFeTvlubk75L9L9kiqnTS6m/z4S3mSN6CTxNMP/1oqM14vF8BPCABIOmUK/PEjukYKvn0Mi/OL
ORLDziSw6+fPvrVDVpbVSDJ1zgzInVcPlWln9JVE+cFfS2Tm69sE8AsCAJImUvDH9ZRzTuwZafXDvewMgqf/u12emrM94ZMLTxzVTX7ztRFtzkWIh6nf/0CW
FO8VwA8IAEgYeyveaWN7mPZ+Lznj+B7SpVNQ4D2FJgQ88q8tkdkD8XbjJYPkVrPWnyybdzbIZ76xWOob2RgI7yMAIK7sHPwzju8ZWdOfMrZnzJu04B524+Df
Xtoiby6Ofa/AETnp8vtbR0au/pPtj89ukt/M3iCA1xEAEBefPukIOX9ir8i92FkZFH0/szMGHnl5q/xzzrYO3UFgi/+MH4xJ6d6Qk69/l0OZ4HkEAHRYz27p
cvlZfWXaGf0iA3qAA9nbCWe+Xh65135POycP2uI/665jUn775z0z1kd+3YCXEQAQtUnH5EjBmf3krHE9JS3IPXtonV1P/8e/t8pDz22S6trDT9/r2yNDZvxw
jAzum/rZD6s31Mr531oigJcRANAudrTqZWf0jRR+hvOgI6pqQpHpe3//15ZDNtnZuf2FP/mUoyY9jvvSO1JZ4+0zE+BvBAC0asSRneVL5w+Ui0/tLUA82OWA
P5lugN0waNniP+OHx8jQ/s4Kll/77Wp55Z1dAngVN2OjRXYXvx23agf2APFkZ/h/Z3qufOG8AWZZYLNccXY/xxV/K9eBvyYgnggA+IgdzlNwVl+Zfnb/pAxd
gb/ZNf8fXDNUnCq3HxMq4W0EAEj+wE6Rq7ELJveWzHRu4QOsPj0IwfA2AoCPnXJsd/nKhYMiB6wA+KRunZlcCW8jAPiQncl/w0WD5Nj86M5QB/wkm9HV8DgC
gE/YE/jOm9ArcsU/cnBnAdC6ugbOA4C3EQA8LmiW9C85tY9cZwo/9+8D7ccMAHgdAcDDrjirn3zFtPoZ0wtEr4oAAI8jAHhMelBJgSn81184MHKbFYCOqagm
AMDbCAAeYQv/ZWf2jazx9+tJ4QdiVbq1TgAvIwC4XKTwn/Fh4afVD8TNyrIaAbyMAOBS9hS+qaf3kRsuOpI1fiABlpXsFcDLCAAuNHVKH7np0sEUfiBB1pfX
S0MTtwHC2wgALmIH9/zkS3kyeki2AEicd4uqBPA6AoAL9O6eLt+ePlQumNRLACTe/5buEcDrCAAOlpGm5MsXDJTrLxgknTI5pAdIBq1F3lpaIYDXEQAc6rMn
HyHfmp4rA3tlCoDkWby2WvbWhQTwOgKAw+QP6iQ//VK+nDCyqwBIvjmLaf/DHwgADtGlU1C+UTBELj+rX2R+P4Dks+3/Z9/aLoAfEAAc4JLT+sgdlw+RI3LS
BUDqzFteIVt3NQrgBwSAFLLH8v74i3ly/Aja/YATPPmfbQL4BQEgBWy7/+uXDZYrz+lPux9wiD3VzfLqu7sE8AsCQJJdfGpvueOKXOlFux9wlLWbaiXE8D/4
iMovmKcFCZc/sJP89Mvs7gecbGnxXrnpviL2AcAXaEAnmFIiN1w0SJ77xXEUf8Dh7Ljtl+4ZK2ee0EMAr6MDkECD+2bJ/TePlDHDmN0PuM3fXtoi98woY1kA
nkUASAB71X/tuQPktmmDJTOdJgvgViwJwMsIAHE2sHem3Geu+o8zrUQA7lddG5Jv/mGN/Oc9JgTCW7g8jaPp5/STf907luIPeEjXzkH50+2j5dtX5grgJdwG
GAf9jsiQe24YLhOOzhEn2L6nSXZWNsqOCvtoMu83SlVts1TVhMzVjH1ulkrzqDbv249X7G2WWGRlBCQnO026mUdOl7TI2/uf7Ytnj67pkR/r3iXtE889u/LH
D+7xxfMHyNABneSW+1dLfSMbA+B+LAHEaOqUPnLn1UMjw30SaXd1s+w0BX1nZVOksO/68Nm+bwv8rqqmSLHfbZ7dpF/PjMhmySHmcaR55PbrJEP6ZUU+luiv
KdARRRtq5ZqfrYj8HQTcjADQQfbK9t6vjojr7UK2eJduqZN15fWyzj5vrYs8r99WL80h/32bepgOgQ0GQw4IBfsDgu0iAKlSvrtRvvTLlbLahAHArQgAHTBx
TI7c89Xh0rdHhkSrtiEsZaaw20epfTbFfr15rN1YIzX1tBXbq2e3dBk7vIt5dJPjhneVMcO6SHYWW1qQPHXm7/KNvymStz6oEMCNCABR+s70XPnCeQPa/Dy7
RriyrEaWFldLyWZb6G3Rr5dte7idKFFGHNlZjs3vKkcPzZYTR3WLvA8kkp0RcPej6+SxV7YK4DYEgHbKG9BJHrhtVGSk78EamsKyan2tLC/dK8vso2SvFG+u
jZwtjtSxmxPtZDfbIRhrHjYccAYDEuEf/94qP/3HOgHchADQDnb374G3ANki/0HxXlm5viZS9O2VPtxhmAly9m6Nk81j/FE5kX0GQDw8878dcscf1wrgFgSA
Vtjb1K45d4B065xGsfeoUYM7y4Qx3WW8CQR2b4ftGgAd9eL8nfKNB9ZImFdVuAABAPhQelDJeBMCzji+p3n0kAG9MgWI1qvv7pabfltECIDjEQCAwxg9JFum
jO0hp5vH2BGc5Ij2syHg5vuKOEgIjkYAANrBDiw6f2Iv8+gducsAaMubi/fIV39d5MsZHnAHAgAQJXvg0wWTest5E3rJyMHcaojDm7usQq6/Z5U0NvMyC+ch
AAAxsLMGpp7eVy6c3Js7CtCit5ZWyBd+sVIApyEAAHGQFlRy1riecumUPnLKsT0koAT4yFNztst3HioWwEmCPcd88S4BEBO747t4c508P2+nFL6xLXLaYt6A
zpLNgUYwjsrNlpD5Q/JuUZUATkEHAEgQ2wU4+8Qj5OrP9JeTRncT4LYH1sgLJiQCTkAAAJLAjpC2Z0j836TeDBvysaaQlmvuXiHvrKITgNQjAABJZI8xnn5O
f7nm3P6Sk82mQT/aWxeSS7/3gZRsqRMglQgAQApkpgdk2pl95UvnD5T+R0R/rDTcrXxXo1zwnSWyp7pZgFQhAAApFDSrARdM7i3XXzgocuIk/GN5aY0U3LUs
cpookArcBQCkkD0yumh9rTz+arms3VQro4d0YZ6AT/TpkWG6P5ny2qLdAqQCAQBwCHsb4eOvbpX15fUycnB2ZL8AvM2eN7FtT6OsWMcpo0g+lgAAB7JLA5ec
1le+dskgTiX0OLsEYDcFFm2oFSCZCACAw9k5AjdePEh6dksXeNOmHQ1y/h2Lpaae/QBIHpYAAIdbWrxXHnul3BSHkIwZ1oU5Ah7ULTtN8gd1lpcWMCQIyUMA
AFzAjpF9b3W1zHitXEIhkaOHdpGMNA4c8JJhAzpFQt7itdUCJAMBAHARe6zswpWV8uQb5dIpMyifyusi8I4JR+fIguWVsnVXowCJxh4AwMUG98mSn16XFykc
8IYdFU1y3h2LGRKEhKMDALiYPXXwmf/tkNUbamTs8K7StTO3DrpddlZQBvXOkpff3iVAIhEAAA+wc+VnvF4uyvzv2PyuEgyyP8DNhg/qHAl1nBeARGIJAPCY
wX2z5D/3HS9wt4q9zXLWre9HujxAInA/EeAxR+VmC9zPToL88ReHCZAoBADAY265dLDAG86d0EvOObGnAIlAAAA85KxxPSV/EKcKesnd1+VLTjabOxF/BADA
Q2763JECb7FLAT9iKQAJQAAAPGLK2B6s/3vUeSwFIAEIAIBHfP0y1v697EdfzJMunYICxAsBAPCAycd05+rf43rlpMuNl7DEg/ghAAAecMtUCoMffP6z/SNz
HoB4IAAALjf+6Bw5bnhXgfelB5XcedVQAeKBAAC4HDv//eXME3rISaO7CRArAgDgYsfld6EY+NCPvpAnAY57QIwIAICL3cLOf1+yw56uPKe/ALEgAAAuZU+M
s7v/4U9242e3bG4LRMcRAACXuulS1v79zI4H/vplQwToKAIA4EIDe2fKp086QuBv08/px22B6DACAOBCX7lwEJvAEHHjJYME6AgCAOAyPbumySWn9RHAumBS
bxnQK1OAaBEAAJf5wvkDJSONy3/skxZU8jW6AOgAAgDgItlZAbny7H4CHOjiU/vQBUDUCACAi1xxdn9OhMMhbBfA7gsBokEAAFzCzoH/0vkDBGjJ56b0kd7d
0wVoLwIA4BIXn9ZHenbjBR4ts/tCbriILgDajwAAuAQv7mjLtDP70QVAuxEAABc44/geMqg3m7zQOtsF+PxnWCZC+xAAABe49lxe1NE+087sy22iaBcCAOBw
Q/tnyfijcwRoj+5d0uSCyb0FaAsBAHC46y7w9tr/ghWVgvi6+jMcFYy2EQAAB7O7/r18NbdkbbVc/dMVcuat78vy0hpBfIweki0njOwqQGsIAICD2dPevLqe
u6uySa7/VVHk7Q3b6uWS7y2Ve2eul8ZmLYjd1Z+mC4DWEQAAh7KDf7zayg2FRb7yq1Wyu6rpo49pU/cffn6znH/HYlm1nm5ArD4zvpcckcMtgTg8AgDgULb1
n5OdJl7088fWyZLivS3+2Lqt9XLxnUvlvsIN0hSiG9BR9rhougBoDQEAcKjrLhgoXvTKO7vkH//e2urn2A7Bg09vkktMEFi7qVbQMVec3U+CvMrjMPijATiQ
ve1v2IBO4jVrNtbK7Q+ubffnF22olXO/uSSyNIDo2VsCzznpCAFaQgAAHMiLg3+qa0Nyw6+KpL4xLNGymwOn/2S57KxsEkTHHhUMtIQAADiMHfl7+tge4iV2
g9/XflskG7bXS0e9vbLKdAMWy0LmBkTl1GN7cIgUWkQAABzmi+cPFOWxO/8efGajzF8ee+HeU90sV/10hdwzY700s0GwXewegP+b2EuAgxEAAAfp0ikonzvN
Wy3becsq5f7CjRJPf35hs1z6/Q9k665GQdtYBkBLCACAg1xiin+nTO/8tdy4vSHS+k+EFetqIksC9q4CtO7oodmS58FNpYgNAQBwkM97aPBPXUNYrrtnpeyt
C0mi2H/31367Wn7w1xJB6+gC4GAEAMAhJh2TI4P7ZolX3PbAGineXCfJMPP1bXLJdz+IjBdGyy7khEAchAAAOMRVHpra9odnNsnri3ZLMi0r3SsXfGdJZNYA
DtXviAyZOIZjpfExAgDgAPbF+fTje4oX/HfJHvntkxskFbbvaZLPfe+DpIcPt7joFJYB8DECAOAA08/pH5nd7nalW+rk1t+tkVSyg4Zu+HWRPPB0fO888AKm
AuJABAAgxexxv9PO6CtuV1Mfjpzwl8hNf9Gwtx7efN9qaWiKfvKgV2VnBSJ7TQCLAACk2HkTe0VmtruZnfR3831FkZP8nOTlt3fJZT9YxubAA0wZ642lJsSO
AACk2DWfdf/cf7vm/7+lFeJEK8tqIpsD7cFCEDnjBG+NmUbHEQCAFDo2v4sclZstbvbau7vlj7dNRCwAABAASURBVM9uEiezmwMvv2uZLFlbLX43uE+W5Pbz
zu2m6DgCAJBCdvOfm9lb7r7++9Ru+msvuzdh+k9WxOVMArfzyh0niA0BAEiRnOw0Od/Fh7RU1YTk+ntXuWqTnf21fv7uFZGuhZ+ddhzLACAAAClTcFZfSQu6
896/xmYtX/zFCtm0o0Hc6MbfFslzc3eIX40/OsdTZ06gY/gTAKTIFWf1E7e69XerZUnxXnEre9fC7Q+ulSdeKxc/skcET/5Ud4G/EQCAFJh8THcZ0CtT3Og3
szd4poV+199K5ff/9OfAoNPHsgzgdwQAIAUuO9Odg3/++d/tjt/xH63fPbVR7n50nfjNqewD8D0CAJBkdujP2ePctwt7wYpK+fafisWLHnl5q/z0H/4KAX17
ZMjwQZ0F/kUAAJLs0il9XLf5b315vXz110XiZf/491b5xRNl4icnje4m8C8CAJBkbjv2d3d1s1x99wrHzPhPpL++uCWyx8Evjh9JAPAzAgCQRCcf1c1Vm//s
7X7X/myFbNnpztv9OsLucfDLxsBxI7sK/IsAACTRZWe459Y/e6ucvd3PztL3G7sx8C+mG+B1NozavQDwJwIAkCRdOgXl3PHuOY/93pnrfT0x75dPlPkiBIwb
xTKAXxEAgCT53Gnu2fxX+OY2+fMLm8XvbAh47JWt4mUnsAzgWwQAIEncsvnvP+/tkTsfLhHs8+NH1knhnO3iVSewEdC3CABAEowd0VWGuOAIVrvef/P93r7d
ryO+93CxzF1WIV40akh2ZHkK/kMAAJJg2hnOn/xnd/rbk/Iam7Tgk8LmS2LnIBRtqBWvCZhVqePyWQbwIwIAkGD26squ/zvZnupmueonK6Rib7OgZXUN4cgt
keW7GsVrjmcfgC8RAIAEO29CL3Gy+kZT2H6+QjZsrxe0bmdlk3zxlyulpj4sXnL8CPYB+BEBAEiwS093bvs/0tr+TZGsWOe/e/07as3GWrnxN6sk5KEMcPTQ
bIH/EACABMrtl2XWV7uIU9nNbW8t9ebmtkSat6xSvvuwdw5GsgdU9evJQCC/IQAACVRwpnMn/z303GZP396WaPZo5Aef9s7RyCMH0wXwGwIAkCBKiVzs0M1/
Ly/cJb+atV4Qm/sKN8hLC3aKF4w4kqOB/YYAACTIGcf3lJ5d08RpFqyolK//frUgPr79p2JZ7YHbA+08APgLAQBIkKmnO+/q3w76uf5eb21gSzV7F8WX71kp
1bXuPi559BA6AH5DAAASoIe58j/ddACcZP+gH3s/O+Jr665G+dpviyJ3VbhV3sDOku6SsyoQHwQAIAHs4J+Ag15LGfSTePOXV8qvZrp3X4X985o/iC6AnxAA
gAS47Azn7P6vNVf81/yMQT/JYE9QfOWdXeJWIwcTAPyEAADEmb3vf2h/Zxz80xzSkTV/u/aP5Lj9wbWu3RTIrYD+QgAA4swpk/+0WY++7fdrZOGKSkHyuHlT
IB0AfyEAAHFkD/45f2JvcYKfP14mL7/t3na0m9lNgTff575bLZkF4C8EACBO8gd1kud+fqxkZ6X+r9Xjr5bL3/+1RZA6c5dVuO570Kd7hgSpCr7BtxqIg3Mn
9JJn7j5WBvdN/dq/nfL3o7+XClLv3hnrXbUfwE6vPLKPM/avIPEIAEAM7K1Td16VK/ffPEKyMlL/18keUsOUP+doCmm56b4iaWx2z4CAgb0zBf5AAAA6yI75
ffwHY+TacweIEyxZWy3X3buSKX8Os25rvfzyiTJxi4G96QD4BQEA6AB7q98LvxwrJ47qJk5QZNrMdspfY5OLR9F52KP/3ipvfeCOY5cH9qID4BcEACBKV57d
T2bcdYz06ZEuTlBWXi/Tf7w8MvAHznX7A2ukssb5kxhZAvAPAgDQThlpSu796nC56wvDHDMz3d5udsWPlrmisPjd7upmueMPa8Xp6AD4BwEAaIcB5kXxqZ9+
Si46xRn3+Fvb9zRFiv+OiiaBO7zx/h6Z+fo2cTL2APgHAQBowymf6i4v/OI4Ge2g89LtoT5X/HiZbNrRIHCXux9dJxu3O/f71v+IDIE/EACAVnz14kHyl28f
Jd2yg+IUNfVhmf6T5bK+nMN93KihKSzfecjZSwGD2AfgCwQAoAV2pO9D3xwtX79ssKOO9bXF45q7l7v2sBns8/bKKnl+3k5xKjYC+gMBADjI/pG+ZxzfQ5zE
nux33T2rZEnxXoH7/eSRUqmqceaBQewD8AcCAHAAJ430PVBYi9x032qZv5yT/bzC7uP4+ePrxIl6d3fGLa5ILAIA8KHvXj3UMSN9Dzb7P9vk9UW7Bd7y1Jzt
8s6qKnGa7l0IAH5AAIDv2ZG+M344Rq75bH9xqvdWO69IID6+9+dix01w7N4lTeB9BAD4mtNG+h7OkuJqgTfZswL++OwmcRICgD8QAOBbThvpezh760Lc8udx
f3x2o5RuqROnIAD4AwEAvmNH+t5n1vqdNNK3Ne+v4erf6+wJjt/9c4k4BXsA/IEAAF/ZP9L3vAm9xC3sMb/wvkVFVfLvt3eJE3TvSgfADwgA8A0njvRtD9b/
/eMXT5RJUyj1GwJ7dqMD4AcEAPjCjZc4b6Rvey1mCcA3Nu9okMdf2SqpZqdfZmdRHryO7zA8bf9I31unOmukb3uVlddHNgHCP3731MbIkKBUy2EfgOcRAOBZ
Th3pGw3W//3HBr4Hn94oqcadAN5HAIAnOXWkb7RY//enx18tT/lRzwQA7yMAwFNsm//Oq3IdO9I3WksJAL5kD366+9HUnhOQQwDwPAIAPMOO9H38B2Pk2nMH
iBfY3eBF6zn216/s2Q+pnAHROdN9G2YRHQIAPMEtI32jsaxkb+RKEP71o7+XSqpkpLtw1yyiQgCA6115jjtG+kaL9j9WltXISwt2SipkpFEevI7vMFzro5G+
17pjpG+0lhTvFeCBpzeKTkEjKNMDe2jQOr7DcCU3jvSNFh0AWMWb6lIyIjgznfLgdXyH4TpuHekbjd3VzZGpcID1u39uSHoXwHbY4G0EALiKm0f6RmPxmioB
9rNdgFffTW4XIIMOgOfxHYYr2JG+fzOF360jfaPF+j8Odl9hcrsALAF4H99hON7+kb6nHNtd/GIpI4BxENsFsLMBkoXbAL2PAABH88pI32i9zwmAaMEDSTwj
gCUA7+M7DEeybf7vXj3UMyN9o7F2U600NIUFOJidC/Cf95LTBSAAeB/fYTiOHen7xA/GyDWf7S9OYo9offntXbKrskkSiRMA0Rp7XHAyMAjI+zjtAY5iR/o+
eNtoR0z1s1fhi4qqZf7yCpm3rCJy9WU3YT142yg558SekihL2QCIVtg/h3MW75EpYxN7zHVmBnsAvI4AAMewI31t2z9VU/3CprivMi+uc02xn28ei1ZXSWPT
oduuV5btTWgA4AhgtOVvL21JeAAIKAKA1xEAkHJ24Mg9Xx2ekql+G7c37LvC/8AU/eWVUlnT3ObPWbmuRhKlvjEsazZyAiBat2BFpRRvrpP8gZ0kUUIcROV5
BACklB3p+6fbRyVtqp9dx7cvnvsKfkUkAETLtmAT5YOSvSmZ+w73sV2An12XJ4nS2MxGVK8jACBl7Ejf+24emdCpfnYd/73V1ZGW/twD1vFjsW1Po1TVhBLy
62YDINrrube2yx1XDJHuXRLzMt7YTBL1OgIAUuJrlxwpN116ZNyn+tnibou83bRnr/DfLWp5HT9W9qCeRAwmYv0f7WUL9IzXyuWrFw+SRGgiAHgeAQBJZUf6
/u6WkXEtnh+t40c277VvHT9WNmQkIgAsKuIMALTfo69slesuGChpCdg428gsCs8jACBp7Ejfh24fHfNUv/3r+PM/LPgbttdLsq0oi/+teuW7GmVPdeLDC7zD
zqR4acFOuXByb4k3OgDeRwBAUtiRvr/8Sn6HpvrZFr69Jc8W/HnmSn/FupqUb5RLxEZA2v/oiL++uCVBAYAOgNcRAJBQQVPvvz19aFRT/WxxX7W+RuZ+kNh1
/FisL6+XuoawdMqM37Q0AgA6wv5dsRtdTxjZVeKJDoD3EQCQMHak70PfHC3HDW/7hWnTjoaPduonax0/VsvX7ZUTR3WTeGECIDrqkZe3mAAwUuKJ2wC9jwCA
hGhrpK8t8AuWV344hCc16/ixsssA8QoAdgrhshICADrm32/vitye2rdHhsSL07puiD8CAOJu+jn95M6DRvraF5P31lRFdurbhxPW8WMVz30ARaaNywmAiMXT
/90uN1wUv1sCm0L8efQ6AgDi5sCRvp+4H9+09N8pqvTcFcXKdfG7Ymf9H7F68o1tcQ0AdAC8jwCAuLAjfb//+aGyu6pJbvndmsioXTes48di9cZac5Wk43J4
Eev/iJXdR/POqio5aXR8lqW4C8D7CACIC3twyA2/LhI/sV0O27o/ZlgXiRUjgBEPtgsQrwBgD6aCt8XvHib4mt2A5Eer4rAPYG9dSEq31AkQq5ff3im1DfEp
3F7v4IEAAMQkHhsBWf9HvNh1++fe2iHxULmXAOB1BAAgBiviEACWrmX9H/Hz1JxtEg8VBADPIwAAMbB7AMIxbpZeSgcAcfRByV4picOSEh0A7yMAADGwG6Vi
Xb9nCQDxNvs/sXcB6AB4HwEAiFEs+wDsBEROAES82WUAe4tqRzU2awZT+UBAtG4QAB22MoajgVn/RyJU14bkjfd2S0ftqW4SeJyp/QGtVIUA6LCV6zreAWD9
H4nyr4W7pKOquAXQ82ztt0sA7juFBXCQ5TGMBGb9H4nyn0W7I638jmD93xfq7RIAAQCIgW23bt4Z/UqaXaNdsS5+BwoBB7Jr+HMW75GO4A4AHzC1P6CUsAQA
xKgjywD25zSHOHAFifPywp3SEXQAvM/WftMBYA8AEKuO3AnA+j8S7bV3O7YMQAfAB0ztD2j2AAAx68idAKz/I9HsMsD/lkS/DFDBJkDP05EOgCIAALHqUAeA
WwCRBC8tiH4ZoILbAH1ARzYBsgQAxKh8d6NU1YTa/fn2BEA7BAhItDffj34ZYLtPT/f0FS12EyB7AIB4WFrS/pb+oqIqAZKhpj4sby2N7mV+y07mw3mdiswB
YBMgEBfRLAOw/o9kevnt6JYBtuwiAHie3QQYljB9SCAOogkArP8jmV5/d1e7lwHsAVfRLGfBncIqzCZAIF5WRjERkA4AkskuA8xb1r5m76btXP37gRJVH1As
AQBxUVZeL3UNbZ+gZo8PtpsAgWSa8377bgfcSvvfH/ZtAgyUC4C4WNGOLgBX/0iFN95v3+mArP/7g639geZQsEgAxEV79gGw/o9UsLeqrt5Q2+bncQeAP9ja
HygrPKlca6kUADFrTwCgA4BUac/hQCwBeJ+t+bb22+OARYkuEwAxaysA2B3Wq9ZzAiBS483FbS8D0AHwPqV0pPMfCQBaKZYBgDgo2lATOeb3cJaX7rXpG0iJ
91ZXR46vbs3WnUwB9DrzEvRxAFAfvgNSGNK4AAANv0lEQVQgNra4r2llnXVpMev/SK3WlgHsn9/NO7kz3OuUqDL7vK8DoAkAQLy0djIgRwAj1ea0sgyws7JJ
Qm3fyQqX21/zIwHAfMMJAECcrGhlHwAbAJFqb7y/57DLUKz/+8P+mh8JANLUuUwAxMXhNgLurm6WrbtYX0Vq2SFUi9e2HEQ376D973Va61CN5BTbtyMBoOzZ
sRUmEG4TADFbdZgA8B4nAMIh3jzMPoB1WwkAnqfUph2FYyLrlIGPPsZGQCAu7K1+JVvqDvk46/9wijfea3kfQPHmtgcFwd1MrS/b//ZHAUAzCwCIm5XrDu0C
sP4Pp1izsVYq9jYf8vHSFoIrvMUsAXx0sf9xB0AH6AAAcXLwnQBhs8a2hBHAcJC5Hxx6DtzajXQAvE4f0O3/uAPArYBA3By8EdC+sDY0cX8VnGPBik9OgN+8
s6HVIVbwBhUIHBoAQgG1RADExbLST17ts/4Pp1m4/JMBoHQz7X8/CGl1aAAomzWhzGS/9QIgZnbc6oH3VC9hAiAcZsP2etm04+M/o2wA9D5b422t3/9+4KAf
niMA4uLAZYAla+kAwHkWHrAMUEIHwAc+WeMPCgBqjgCIi/0BwN4WyNUVnGjB8o83AnIHgB98ssZ/IgCEJDBHAMTF/jsB7NU/JwDCieYvP7ADQEj1uoNr/CcC
APsAgPhZ8eEsAE4AhFPZw3+KTeu/tiEcGVUN7zp4/d8KtPBpcwRAzMp3N0pVzeHnrgNOYPcBrGrlACt4xaG1vYUAwD4AIF7s7YDvr+EMADjX/OUVtP994dDa
nnbwB+waQZowsASIh9fe3SV7aK3Cwd5ZWSWDemcJvK2lPX6qpU/MK5hXZn5giACISXZWQGrqCdRwtj490mX7niaBN9n1/5JZk3IP/njgMJ8+RwDEjOIPN6D4
e13LNf0wAYB9AAAAeEPLNb3FAMA8AAAAvOFwNb3FAMA8AAAA3E9rvfrg+//3Cxz+Z8mzAgAAXEz9+3A/ctgAEArLIwIAAFyrtVp+2ABQVjhpiekdLBUAAOA+
poZHavlhBFr9yRKYJQAAwHXC0nonv9UA0BgMPam1cI4ZAAAuYmt3IBx+orXPaTUAbJhxSqlS8j8BAACuYWt3ceGpO1r7nDaWACIjBB8RAADgGu2p3W0GgKpQ
zlPmiTmRAAC4gq7Zm96lsK3PajMA7Cgcs9esJfxLAACA42lRL2577Niatj6vzQCw79+mHhEAAOB8YdWuO/jaFQBKume8ZNYTtgsAAHAurXfYmt2eT21fB+Dh
cU2mpzBTAACAY5n2/4xIzW6H9gUAQ4lmKBAAAA4WzRj/dgeA4tmT3taiFwkAAHAcreX9ssKJ7R7h3+4AYHoApv6rXwsAAHAerX4SqdXtFEUAECnZ1viU1nqN
AAAAxzBVf23JkxOei+bnRBUAZM7pzaLUzwUAADjJz6K5+reiCwBGSXnj4yZrbBEAAJByZn1+677aHJ2oA4DtAoS13CsAACDltJZ7Ih36KEUfAIzGcOAhkzj2
CAAASBmtdYWtydIBHQoAmwon1ilRvxMAAJAySqn7bU2WDuhQALAaA+H7TduhQ/9RAAAQG3v131zf+T7poA4HgA0zTrFLAA8LAABIOnP1/1DZs2MrpIM6HACs
RqXvoQsAAEBy2drb1Jh5v8QgpgCwcdbkLeaX8agAAIAk0o+uf3rcVolBTAEg8kuQ9N+YKBL17QcAAKADTM3VwbSYR/PHHABKZ5+8Rov8VQAAQMLZmls6Y/xa
iVHMAcCqC2R9z/ySdgoAAEggvXNfzY1dXALAlpnjdoZFvi8AACBhbK21NVfiIC4BwCoNTfqz1vKuAACAuNOiF9laK3EStwAghSpk1iVuFAAAEFdaa1tjb7C1
VuIkfgFA7IbASe+ahPIPAQAA8fSX0lmTF0kcxTUAWHUq63YTVaoFAADEQfw2/h0o7gHgww2BPxAAABCzeG78O1DcA4BVGp70ezYEAgAQm3hv/DtQQgIAGwIB
AIhdvDf+HSgxAUDYEAgAQCxsDY33xr8DJSwAWGwIBACgI/TOSA1NoIQGALtpQSt1swAAgHbTor6ZiI1/B0poALBKZk16hKUAAADax9ZMWzslwRIeAKy6mqyv
mt/QCgEAAIen9UpbMyUJkhIAtrwwrlYpmaa11AoAADhEpEaG06bamilJkJQAYBXPnLxCFLcGAgDQIlMjiwvHr5QkUZJkeQXzZpn/6DQBAAAR+9b9J18jSZS0
DsB+ofrOX9EiZQIAAOywn7JkrfsfKOkBoOzZsRXhkJpmfseNAgCAvzWZtf/LkrXuf6CkBwBrXeHEd8KivyUAAPhYWOs77ORcSYGk7wE4UF7B3KeVqIsFAACf
MVf+z5XMnnSRpEhKOgD7heqzv8B+AACA39jaF2rofI2kUEoDgN0PYL4K/8d5AQAA3zA1Tyl9fqQGplBKA4Bl2h/LdUBdpEXXCwAAHhapdSp4QWQ2ToqlPABY
JTMnvWFnA5iWSFgAAPAgHdnzF5haPGvCHHEARwQAq3jW5OeVcHIgAMCbzNX/jaWzJ74oDuGYAGAVz5r4oHn6kQAA4C0/Kp01+U/iICm9DfBwhhXMfSAginMD
AACuZ678/1Qya/IN4jCO6gDsVzpqklkK0M8LAAAuZtb9Z5aMmuTIC1pHBgC5S4Wbs5rspsA3BAAAV9JzSsobr7Y1TRzIkUsA+/W6YG7XnE5qvlIyRgAAcAmt
5d3KOn3mzucnO3bOjTM7AB+yX7hGpT9teiglAgCAK+jS+sa0zzq5+FuODgDWxlmTt5inT5vHLgEAwNH0lsaAPnvzMyc7vmY5PgBYxbMnleiQGm9aKsUCAIAT
2W61VqdumHFKqbiAKwKAVVI4sVgaZZJ58x0BAMBBtOhFEg5NsBes4hKO3gTYkr5XLc3u0lj9glLqdAEAIPX+W1uTee6WF8bViou4pgOw37bHjq1RVX0/a5YD
ZgkAAKmkpVAq+3zabcXfcl0H4GNa5RXMu0eJul0AAEg2re8zLf/bTCnV4kIuDgD75BXMv12JvlcAAEiSsNZfL509+T5xMdcHAMt0Ar6stP6DKJUmAAAkiNY6
pFXgutJZE/8mLueJAGANmzb//ICEnzIhIFMAAIgzrcWs8+tLS2ZPflk8wDMBwMq7bO7p5nf0tFKquwAAECem+Fdqpc8qnTV5kXiE6+4CaE3Jk5Pf1MG0k8w3
apkAABAHWvQKc7V8gpeKv+WpAGCVzhi/tiGsTtYijwgAADEIi34wlNU0zk0DftrLU0sAB8srmHeN0vp3olRXAQCgvbTeq3XgqpInJz4rHuXpAGANu2LhcBUK
/VMpOUYAAGhDpOWv1YVevOo/kOeWAA7GkgAAIAqPe7XlfzDPdwAOZJcETLT7g+kGdBIAAPYzLX/R6obiJyc9Lj7hqwBgDZs6/xgV0E+wJAAAsPzS8j+Y55cA
DlZaOHEZSwIAgA/5puV/MN91AA7EkgAA+JO56q9XYfVlP7X8D+brAGDlTn2nXzDYeL8SdZkAADzPFP8nQ6GMW8oKTyoXH/N9ANgv7/J5Z6iw/r0odZQAALxH
65U6oG4qmTnpDQEB4BOmvJk2rG/mjQGlf2ze6yYAAC+oCmv9w9JtTQ/InNObBREEgBawLAAA3kC7//AIAK1gWQAAXIp2f5sIAG1hWQAA3IR2fzsRANqJZQEA
cC5tev2i9KOm3f9t2v3tQwCI0rCCueMCIl83f9imKaWCAgBIGa11yCzTPqlCwZ8WF45fKWg3AkAHDZn69tD0QPM3tdLXmq5AlgAAksYO8jFPj4QD6hfrZkxa
L4gaASBGQy9f2DcYbr7V9J5uUEpyBACQSFXm8UcJhX5dXHjqDkGHEQDiZNjURTmBQOMNpiNwq/mi9hUAQNxokW0qrO+X9LQHi58YXyWIGQEgznKveTMrUJdx
bUD0N8261FABAHSc1utMqfqVVPX5a/HLwxsEcUMASJSpOjgsuGCakvC3lKhPCQCg3bSWZWad/5el4UmzpFCFBHFHAEiC3IIFJwd1aLr5Yk8zXYHeAgA4lNY7
TKt/tnmtfKJ49uSFgoQiACTTlDfT8vpnnqXC4enmK3+R+fJnCwD4mq4xC/zPmsL/RMm2ptcY3pM8BIAU6XvV0uzsppoLldZXKtHnmM5AmgCAH2jdbAr+a7bo
12R0fXbbY8fWCJKOAOAAAy5f1CsrXG+XCKYrpU4QAPAirRfaol8XyJq1Zea4nYKUIgA4zLBpb49Qqmm60uoK893JEwBwMa31avNa9kRzKP3x9YUnrxM4BgHA
wYZOnTsyEAhMMX+FIg/THegnAOBgpuCXmyXN/2rRc8IqMKds5sQigSMRAFyEQADAaSj47kUAcDECAYAU2GSq/n/N8xwdDswpKZxYLHAlAoCH5BfMHyta8k0S
H2ECwQjzzTXPaoT5LvcUAIiGlt3mH2u0yBrzOrJGab02pPTqdbNPWSrwBAKAD+RetLh7WnrtaJ1mgoFWI5SW4TYgaFHDlZLOAsCXtJZaJXqtaeGvjRR6pdeo
ZrWmuanzqrJnx1YIPI0A4HO9py7vkhPa212nh7qLDuToQNg86+4BUTnmxaC7eYHobl4cupuXihylzbMS8zGdYz9mrgjsj2UKgNTQukErVWGeK8wSYKW5aq/Q
SpvCbd+2HxPzdqAyrMMVYj8vFK5UgUCFagpWVDQ3V+58fnK1wLf+HwAA///xoWZ1AAAABklEQVQDAMAi6NNym+1sAAAAAElFTkSuQmCC
"""))

    private static let _img_icon_svg = EmbeddedFile(path: "img/icon.svg", content: .text(#"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="18" fill="#2458c5"/><path fill="#fff" transform="rotate(32 32 33) translate(6.4 6.6) scale(.8)" d="M32 14C33.6 14 34.8 15.6 35.2 18.2C45 18.6 55 26 61 41C53 33 45 29.6 36 29.5C35.6 34 34.8 38.5 34 42.5L38.5 55L32 48L25.5 55L30 42.5C29.2 38.5 28.4 34 28 29.5C19 29.6 11 33 3 41C9 26 19 18.6 28.8 18.2C29.2 15.6 30.4 14 32 14Z"/></svg>

"""#))

    private static let _img_maskable_192_png = EmbeddedFile(path: "img/maskable-192.png", content: .base64("""
iVBORw0KGgoAAAANSUhEUgAAAMAAAADACAIAAADdvvtQAAALwUlEQVR4nOzdCVCU5x3H8Qd2F9iF5VjlEATUrIjG+2yjUeMVq2M0VqOxZjwyRlsTU+3ENJ2m
mjTGo05MRpsmPUwbGzuJY2yqMTGxMR54R5BLOQQEFVgBd2GXXY6FPopFQFh2+cO++77v7zMMA/g64vDlPZ73fZ5V6hcmMICO8mYABAgISBAQkCAgIEFAQIKA
gAQBAQkCAhIEBCQICEgQEJAgICBBQECCgIAEAQEJAgISBAQkCAhIEBCQICAgQUBAgoCABAEBCQICEgQEJAgISBAQkCAgIEFAQIKAgAQBAQkCAhIEBCQICEgQ
EJAgICBBQECCgIAEAQEJAgISBAQkCAhIEBCQICAgQUBAgoCABAEBCQICEgQEJAgISBAQkCAgIEFAQIKAgAQBAQkCAhIEBCQICEgQEJAgICBBQECCgIAEAQEJ
AgISJZON3j38wnW+Wo3C30/hr1YE+CmUSq9KW521ym6tuv++sLQq+6aVgdMkG1CfSPWwvtp+MRp9lCa2h19MmJ+Tf9FkqU3KqkjKMl/MKE/OrqisqmNO81V5
PxKlNlvt+cU2Jg9e+oUJTCr6x/r/6NGgEf20I/oFdg9Ssc5wKsV4+HTJkQul5Ra7g82Gx2mXz4x8cnS3hk95QNv2Xj9yvpRJnRQCGqIPmD6m+7TROud3Mx3A
SzqYUPL12ZKH90mr5vT81YKYh//Kbz7M3ve9gUmaiAPSR6kXTongv/QROh/mLvzwtPfboo8O3yox1TR8ZevP9XPHh7W6sa26bvQL562uHARFR5QBzZ0Q9uyU
iKH6ACYcvmvZ/eXNVbN7zh4X6mCzF7ZdOZZ4h0mXmE6iYyP8Fk/rMW9iWIBawYQ2f2IYf2t3sz5RagQkPH60evGn0TN/3J2JjdLbi0mapwcUF615eX7M1JE6
L3H+IAzGaiZpnhsQH/d79We9J48IYWKWkV/JJM0TA/JRea2ZF8OHVVQKce//LTb7lesWJmkeF9DkEbrXl/aO6u7LxO/ohbL6eiZtHhRQRDefN5Y/Mmm4uI9Z
TWXekPjxi1PoBj7PPMCCSeF/Xj+AnzIzCXlsYLDC2+tsuolJl/ADiTqtcvOqvq3ueMoqai1WOz+TqKisrbTZ+Sgw/9R87ytajZKPBvG3hg/4PfYAtZK/V/t6
3AMqJy4bX34vg3/bTIoEDmjisJCtq/S6QBW/Wsm6UZlbaM0rtF4vtmUWVHbsDoCfj3d8rH+/aA2/D88/GBUfyDxAzi3r8i3pN29XMckRLCD+k541NrRPpPri
VdOFq+WO73VT8IZG9Q8cMyDosYFBTDh3KmpXbb9yKbOCSYukHudwjB/pJgwNmTpKx98LcjOkqrpu0ZupydfMTEJkFFAjX5X33Amhy2dG9Yrowsc/WlVuqZ33
enJuoXQeN/OUqzB3stfVp+ZY9hwpTM+zhOt83Dnm5OvjPXVUt4MJtyul8oyHHANqxM/Z9x83HEss0wX69I5Uu+d2Gz968sv7Aydu846Z+Mk6oAaGOzWHz5R8
cdIQrFXFx/izrhca7PNIlPrwWSk88IqA7uOXgd9cKDudahzUR9tZz1M7oI/SVNfW/ZAh+osyBNRMYWn13qNFRnMtv1JjXYwfyL48U8Iv75mYYWJhK4rL3DTi
t2WlnokcAmrF6rnRzC2GxWkXTYlgYoaAWpo8ImRAL3ecSjdYuyDaA+/fOQ8BtbRmnpt2Pw2CA1QrZkUx0UJAzfBz5wG93D1b6PmZkUH+Yp1jjoCa+cXTPZnb
afwUq+YI8O92CgT0QP9YzfA4LRPC4mnhgf7CT3brAAT0wIpZLu8GKio75ykUPx/F4mk9mAghoPtCg1Wzxro2cXHb3usz1ycmdtIjPkt/EumjEt8sFAR033NP
urYD+PZC6V8O3uQj1ws3pry3r8BOvrkeolVOGdmNiQ0Cukul9Hp2Srjz22cWVK7dmdXwMb+nvuvzggUbkgtLqePXT40V39xtBHTXnHGhfDzGyY1NltoV265U
1TTb51zONs94JYnfjmUEk0fotBqRnUojoLsWu3L8Wv3O1VslrexszFY7/6M//fsGI5g+WmRHMQTEhuoDnL938eoHWefSyx1s8M6n+S+9m1Fd28FzoimjEJDY
OH/9/M9vij4/frvdzb4+V7pwQ+qdihrmunGDgvgJGRMPuQfEr31mPx7qzJYJKaY3PsphzknJMT/12uUCg8un1T4q7zH9hZx+5Cq5B/TME05dfF0vsr244ypz
RVFp9dK308rKXd4PjR8azMRD7gEtmNz+4zj8smv55vQOzE3OL7Yt25zu6gSM4XEeMZvWSbIOaOygoOiwdub08NNhXk++oYMzudLzLCv/kF5rd2ECxoBeGhEt
xybrgNo9ftXX17+0I4M4l/RsWvnanZn1Tq8UpFJ694913xNtRPINKDhAOaO9VTs37s797lInrLHKr8t2fFbg/PaP9hZyBWOXyDegp8e3s0jvXw/d2nu0iHUS
PsDoeACpKXc+U0sk34CemeTo+PXV2dKtn+SxTrVuV4aTk3hiw909ab/D5BhQaLBq35uD9FHqtjY4k2pauzODdTbDnZr172c6s2VsDwTkqUb20x7aOnRo3zaf
PEzPM6/cfsXeNWsffJ9k/PtXhaw9MWF+YlmgXF4BLZne418bB+kC27zxzgcMl2xK79KXR9n0ca4zi0f3DBPHTkguAfmqvN9dE/fbJb0dbFNirH7urVSjucvn
Gv/6g6x2twkPcd9LEFHIIiA+Wnhg0+B2X2rj4yNFhaXueGWC1FzLZ98VO94mWCuOiT7SD+iJYSH/2TykrxMLCCdluW+tjC2f5JVbHO3qQrRdvkJIp5B4QL+c
H/PhK/0DNO3/NtfV1btzBcyKSvvbe/IcbBASgD2QoLQaxe7XBqye29PJ+0pZN6wtnlLtavuPGxwkGyiSuarSDCg+RnNwy5DHB7vwXETyNQHWetq2N6+tPxLL
Y2USDGj2uND9bw2OCnXtMjgxS4DVd3/IqEjKbj1chUgGgqQW0IZlfbav7uujavP/daON5eITs5y9UdW5/nboVqtf9xZJQGJdFOJh/AbF++viWx1i5hfnCSlG
/nYq2aj29T6xa2SLDWzV9ms3rUwIR86X5hfbYh66+SWWPZBEAhoZH/jHdfG6JmMnZqv9XLqJF3M61ZRz60EcRvPdJwxbLKdyKdMs1At78X+X39z43dKWI5xi
eaZMCgEtmxG5flGsUuFVY6+/nFWRkGJKSDXyD9pahzk1xzJ2ULMH1y9nC7la6r5jxWvm9Wwxs9FWLY6VyMUdED8ebVmpj4v233Ok8Gya6UyayZnbWPx2aYuA
EgV9DRTeyqf/Nayc3WydMotIXh5K3AH1iVT//h+5JSbXZj6k5bZ8HdPELIHXa+Z3NloEZK0SR0DivgrjKbhaD9fihXALDFVuuIHqWL7Bdjm72TiCVSSHMDk+
UMbPqZsOOgu++2lw4ISh6adiOYTJ9JHW9CZHMWHPoBsdPH27psmM+g7MSBSEXAPKexBQkmfsgcot9mOJxsZPDUZ3PFhCJ9OA0v4fEP+lbxqTsJoexQx3EJAH
S8u9f8bKx4RcmjbapY5eLLPY7h/FbhtxCPNgmQWVdffGGZM84wSoER/NYvfmbzCRkGlAfK9z9d6T7R5yCdboZPLdibD05RbdRr4TCxtGg1qMvgjudMrd8+hW
l9DzTPINiJ8780tlT/tR5Rba+LfU4cVA3E86j3O4igd0KdOzjl8NElKMNxCQ50vNMXvaGXSDk8lGxxM2PIp8A+L3wL841f6Kme7H90AievUn+QbE7i1jyDwP
H5Lmb0wksMwvkCAgIEFAQIKAgAQBAQkCAhIEBCQICEgQEJAgICBBQECCgIAEAQEJAgISBAQkCAhIEBCQICAgQUBAgoCABAEBCQICEgQEJAgISBAQkCAgIEFA
QIKAgAQBAQkCAhIEBCQICEgQEJAgICBBQECCgIAEAQEJAgISBAQkCAhIEBCQICAgQUBAgoCABAEBCQICEgQEJAgISBAQkCAgIPkfAAAA//8UX8GnAAAABklE
QVQDAL465opnegzVAAAAAElFTkSuQmCC
"""))

    private static let _img_maskable_512_png = EmbeddedFile(path: "img/maskable-512.png", content: .base64("""
iVBORw0KGgoAAAANSUhEUgAAAgAAAAIACAIAAAB7GkOtAAAQAElEQVR4nOzdCXhV1b2w8ZU5J/NMEkIEjIwyOCJVlDqUyVnqUJkqV1t7FbW3tQ63DrfUOtTW
qQOfX/V61dpqtRdnsSqKSEURCAmQEAIBMkDmnIznJCd3IWpFIDkn2fucvff//T08PIgnPi3R/e611l5rRxZcvloBAOQJVwAAkQgAAAhFAABAKAIAAEIRAAAQ
igAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgA
AAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQ
BAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAA
QCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQi
AAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAA
QhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQB
AAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQ
igAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgA
AAhFAABAKAIAAEIRAAAQKlIBVpIYF+GKCY+NjoiNDte/iI4M9/b0ery+Lo+vy/vFD4+3t9PjUwAGhwAgeDJTorLTYnLSo7PTYzKSo9KSolISIlMT9/+ckhCV
lRoV0D+t0d1d1+ypbfLWNu3/Wf+6rsm7t9Gzs6ajpt6jAPSHAMB4+s59ZK5reLbrqOzYETmuvMyY3Iz9P5ShUhN1PCKPyTvM32rv8pXtaS+v6tA/l1V2bK9s
31nTqQAcLKzg8tUKGBx9iZ9UkDhhZMLEgoSROa705MDu5YPj480tn25tWb/Nva6kpbWjRwHiEQAMhJ6gP2F04nHHJE04OkH/IjneZkPJkl3tugQfFTWtKWpu
au1WQVcw1DVtUupxxyTqQVJOeoweyujf3Lyz7Z11Df/4tEH/QgHmIwDwV3xs+Mljk08am6R/Hj8iPjIiTDmCvtp+VNT8YWHjJ1tb9PKyMtmMk9MXzso5aUxS
H59Zub7x1mVldc1eBZiJAKAf3zo2+fRJqVOPTR43PF453arCpuWrapd/WKtMMHNK+g1z8wvyXP58uLmt+2d/2PbOukYFmIYA4DD0DM8Zk1PPOTFt+vGptpve
GbyWtp5XVte+sHJv8Q5jpmJG5MTe+8Njjh+VqAJ0++Pbn393rwLMQQDwL0nxEWedkDZnaoa++isotW1P+99W7ntx5T59P64GasncYddfMkwN1L//ZuuKTxoU
YAICABUXEz5jSvq538rUsz2Omdk3ls7Ak69Xle5uD+ir9B/sb5eMPvP4QdW0y+ubc/OGCh5jhQkIgFzRUWHnnJh+4H5f/1qhP5+Vup9+q/rVj+r8+XB2evST
t4z3c8a/b//4tOHaB7cqwGgEQKJpE1MumJY54+R0PdevEKDqeo/OwF/eqXG3H3EzQf6Q2OfunBDo3uY+nHnDut37uhRgKAIgiL4qXfrtIfrSn50WrTA4nR7f
U29W//F/9xy6p2xMftz//OexBx7tN8rvXtrz0Au7FGAoAuB88bHh55+WefHpWZOPCfgpFPRNLw7/v5crn3qjWs/UH/gdHdfl905OSzT40aniHW0X3rZRAYYi
AE52VHbs1ecNveC0TKZ6TNXQ4n3kxd3PrqhJcEW88F8TDZn3P9SkRf9s7+IMVBiJADjT2SemzftOzqkTkhWCZU9tV12Tx7xh1gW3buSICBiL00AdJSYqfO70
rAUzc0bmmnITij7kZcboH8o0QzNjCACMRQAcIjEuYvGcoQtn5ehZCAUnykph6R4GIwC2py/9V83JXTQrl0u/s7liWMiBwQiAjXHpF6WPbQfAwBAAW+LSL1BL
WwjeWwBnIwA2w1y/WPUtvB4ABiMAtqEv/VefN3T+DC79Qm2p4BEgGIwA2IC+9P/g/Lx5M3LiY1kGFKqm3sMaAAxHACwtOT7y3y/Ou/ysbJ4AEW4zt/8wAQGw
rivOHnLTpUelJvI9glpX0qIAo3FxsaLxI+J/9YOCsUc5/x288NPK9bwcGMYjANaSlhR167zhF5yWGcYLWvClvY2eQF9GBviDAFhFRLhaOCv3+kuG8ZAPvuG9
z7j9hykIgCVMHZ98x/dHFgzlBDccxqsf1SrABAQgxHIzYm5fMOI7J6Up4HD0/M/Hm1kBhikIQMhER4X98IK8a84fGhPFI544ohfe26sAcxCA0Jg5JV0v9urb
fwX06a2P6xVgDu49g21kruuZnx/76I2jufrDH3/4ydjxI3ggGKaISDt2sUJQhIWpxefmPnrDmKOyYxXgn6T4yEumD+n0+NaXuhVgKN4JHCRDM2MeWjJ6ckGC
AgZkVWHTfzxW2ujmUGgYhimgYLji7CGvP3AcV38MxrSJKfrfoinjkhRgEKaAzJWeHPX4zePmz8iJimRrLwYrLjbi4jOyenvV2i08GAoD8BSQiS46PfPnC0cm
xhm2s3dfo7fRfeBHd4Pb29DibWrt3v+XLZ//pdtbU+857BcmuCLiYsNdMRGu6HBXbERcTHhs9EG/Ex8TnpkanZ4UpYt14GceTrWsG7477Oihrpt/v83b06uA
QSAAptAX3KVXHz1naoYKUOnu9h3VHeVVHfrirq/yB671+md9oW/tGPhx8PprP//yAF4pFR8bnp4UnfZlD9KSoo7OdY0aFjduOE+khN6538rIy4pdfG9xSxsv
CcDAsQhsPD3X/+iNY7LTo/v+WHuXr3RXW+H21p01nTuqOnbUdFTWdik7KBjqGp0fr2Ogfx5zVNxQnmcNkV37Ohf/arP+90cBA0IADHbthXk/viz/sH+rut5T
squtaEdr6a72LRVtjvnv1hUTPuao+DH5cRNGJkwZl5w/hIdcg8fd3nP1/ZvXlfCEKAaCABgmMyXqkRtGnzjmi4c0OvQN/u52fcXfuqt9a0WbvuIPZg7HRrLT
oqeMTz5lXLKOwbAsBgfBcP1DJW+yYRiBIwDGOPvEtHuuKaht8mwsc28oa9U/66t/r/glupz0aJ2BU8bvj0FeJjEwS49P3fgIDUDACIABhqRGD8+J3VjW2unx
KRzB0MyY6celzpqSwZPsZqABGAACgGBLTYw856T0Waek62miyAi2RxhGN+Dm35e+vLpOAf5hIxiCTY+Tine0LV9V+/Rb1TurO6Miw4ZmxkaEU4LB0n+Euqy7
ajpKeH8k/MMIAKGX4Io464S0807NOGNyqsKg/cdjjAPgF0YACD1Pd2/JrnZ9zXr27ZpGd3dOekxqYpTCQJ19Yvr6bS2799ljWwlCiBEArOj4UYnf/faQ2VMz
4mI4kWIg2rt8l95RqLOqgCMjALAuffWfMzVDl+C4UYkKAapt8l58+8aaBo8CjoAAwAaOznXpDMz9dlZyPKdXBaCssuO7Py8UsgMRA8AaAGxALwx8uKnp6beq
2zp7xh6V4GJeyD9pSVHHj0p6+cNaH8eG4nAIAGyju6d3XYn7mRXV7nadgXhXjGHnbDvY0MwYvaj+j08bFHAIAgCb0Rn4rNT99Fs1zW3dOgNxsWSgH+OGx9c1
e4rK2xRwMAIAW+rx9a7fpjNQ3eTuHpOfEO8iA305bVLqO5821DUH8EIISEAAYGM9PrWhrPWJ16oaWrzjRyTEMxo4gojwsNMnp/7tvb3eblYD8C8EAE6wqbz1
mRU1+uo24ejEaF6/fDhJ8ZEFeXGvrWGHMP6FAMAh9KTQ2i0tz79bk+CKHDc8gbOFDjUy16WHSjqWCvgcAYCjdHh8761vfPWj2rys2BE5LoWDnToxhcUAfIUA
wIGaWrtf/ahu9aYmvTCQmRKt8CW9GHDqhJS/vru3h60BIABwsOp6z1/e2VtR03HsyISkOLYQfyElITLBFfHBxiYF8dhRCYd7eXXdBbdsVPiaBTNzThjN8Uog
ABBg3oxshYM9eN0oTloF/wbA4fRl7qrZQxUONjQj5uYrhyvIRgDgcAtm5SbFs0HsMK48J3vq+GQFwQgAnEzf/l99Lrf/R3T/j45hIkgyvvdwsnkzcrj970N2
WvQN381XkIoAwLFiosIXc/vfn/kzc/KHxCqIRADgWPNmZKcl8vh/P6Iiwm6bP0JBJAIAZ9K3/9ecn6fgh7NOSD15bJKCPAQAznTF2UO4/fff3VcdzfF5AhEA
OFBEuPq385j9D0BBnuuKc9guJw4BgAOdf1rmkFTOgAvMTZfmJ/BiNWEIABzo2guHKQQoOT7y2gtZNZGFAMBppk1KGZHDc40DsWBmTioLJ5IQADjN1cz+D1Rs
dPjiOfzpCUIA4CjH5MVxvs1gzJuRkxjHSoAUBACO8qOLmMUelPhYBgGCEAA4R1Zq1OypGQqDs2h2LoMAIQgAnOPq8/LYzTR4ehCwaFauggAEAA6hL1tzp2cp
GOGqObl6QVjB6fgewyEuPTObfUxG0X+SF07LVHA6AgAnCAvbf9OqYJyFM/nzdD4CACeYcXJ6dlroz3749V8q7nqyvL3Lp+yvIM/FA7WORwDgBN+fHfrb1ffW
Ny5bXvnsiprZP12/rsSt7G8hS8FORwBge6Pz444flahCatfezhsfLjnw68rarsvv2nT3k+UdNh8KnHl8an4Wh2o4GQGA7YX8CDOPt/fq+7d8Y+bnmRU1s2w+
FNArK/NmcEa0kxEA2NuQ1OhZp4R489cty7aVV3Uc+vsHhgJLn9qhbOuSM4YoOBcBgL0tmp0b2s1fetL/ldV1fXzgqTer59y8oaquS9lQUnzEzCnpCg5FAGBj
MVHhl58VylvU4h1tS/+n/xv80t3tugHvb2hUNnThNLbXORYBgI3NnZ4Vws1fTa3d1zywubun158Pt3b0/Nt9W379XEWP3RaGpx+XqscBCk5EAGBjIdz86HhC
iwAAEABJREFU5etVP3pw675Gb0BftezlygVLixpaAvuq0IoIZxDgWAQAdjVlXFL+kJA9pHjfszs/2dqiArd2S4ueDtpY1qrs4yIC4FAEAHZ15XdyVIgsX1X7
xGtVaqDqmr2X3Vn47Ns1yiaOHRlfMNSl4DgEALaUnhw14+TQPJ1SuL31lmVlanD0SsBdT5T/5Pfb/FxCCLkLT2cQ4EAEALZ05TnZIXn6s6bec80DW4y6auuR
xBV3FzW4u5XlXXAqh4M6EAGA/YSFqSvODsEO1U6PT1/965uNXMLdsM197s3ri8rblLVlp0cX5DEL5DQEAPajJ38ykqNU0N34SMmWCuOv1LVN3kvvKHxtTZ2y
tumTUxWchQDAfuaFYvn3sZd2v7POrJ1c3p7eGx8pvf/PFcrCph+XpuAsBAA2k58VO2Vckgqud9Y1PPzCbmWyx1+pvHVZWa9VV4VPHJPkiuGK4Sh8O2Ezi2YH
+/a/bE/HTY+WqqD428p9S748VtpqIsLVGcwCOQsBgJ3ERodfFNznEeuavYvuKQ7myf5vfly/YGmxXnBW1kMAHIYAwE7OOzUzmIf/6Kvwwl8W7230qOBaU9w8
/xdFLW09ymLOPJ4AOAoBgJ0E8+xPX6+67rclpbvbVShsKGu97M5CYx85Hby0pKjxI+IVnIIAwDYK8lwTj05QwXL3E+WhPcC5rLLjsrs2WW2b2GkTUhScggDA
NoL59Od/v1H953+E/qyeiprO7+kGWOn00CnjkhWcggDAHqIjwy4O1vLvyvWN9zxtlfc4bq/q+N7dRU2tVhkHHDcqMSykr2CDgQgA7OGC0zKD8xB6ya52PfVv
qYfxdQPm/aLI3W6JNWG9CD9uOMsADkEAYA+XnRWMw39qGjwL7ynu8lruEUydpflLrdKAk8cyC+QQBAA2oJd/JxWYvvzb2tHz/V8VW+3Bm68U72hb+Mvi9q7Q
x+nEMcHeiQ2TEADYwLxzTF/+7fGpa+7fUranQ1nYpvLWq35V7OkO8fzUSQTAKQgArG7/8u8Zpi//3rps28Be8Rhk60rcSx7aGtolitTESF4Q5gwEAFZ33qmm
L//+8X/3/P2DWmUT76xrvPu/y1VInTSWQYATEABY3dzp5t7+v7am7sG/7lK28uyKmsdfqVShM/mYRAX7IwCwtNyMGFOXHDdsc//0d9uUDd3/54o3/lmvQmRM
Pk+COgEBgKVdYebhP5V1XYvv2+y1yWvZD3XToyWfhmjdoiAvju1gDkAAYF36EnPxGWYFoKWtZ8HSYgueuOm/Hp9afO/m8qoQPLmkV+ZH5LAObHsEANY1bWJK
Vqop7/7t8voW3VO8a2+nsrn2Lt+1D24NyeaA0cPiFGyOAMC65k435fZf3zj/8IGtm8pblSPoEcDP/hCCZYzRLAPYHwGARSW4Is4+yZS3kP/kd6UfbmpSDvLm
x/VPvl6lgmt0PiMA2yMAsKiLTs+KijB+nXHpUzte/ahOOc59z+5cX+pWQcQIwAEIACzqsjONn/95/JXKp96sVk6k57Wu/c3WuiAeZDQsKyY457PCPHz/YEVj
j4o3fIbhldV19/+5QjlXfbNXLwh3B/GpVtaB7Y4AwHIS4yJumz9cGeq99Y0/fqxUOd2Gbe6Hng/eruYRuTwJam8EANYyJj/ulfsmnzLeyBPnC7e3XvfbrUqG
ZS9Xrt0SpN1heZmxCnZGAGAhs6dmvLh00tCMGGWcssqOhb8s9njtut13AG58pKS1Ixgb3IZmGvmdQvARAFhCRLi6Y9GIh5eMio4y8smf3fu6rrx7U3CuhtZR
2+S9bVmZMt+wLEYA9kYAEHqZKVF/uWvC/BkGv/VlX6P3e/+1qcFtldepB9MbH9cH4YBrRgB2RwAQYpMLEl69b7Lhxws3tXbrq39NvUdJdecT26tN/r+fmx4T
wSXEzvjuIZQWzMx57q4JaUkGH/jjbu+Z94uiihrbH/UzGB1dviUPbfWZufYRFqZy0hkE2BgBQGjERIU/tGTUzxeOiDR6u6++8M1fWlSyq12Jt6Gs9YnXzD0i
glkgWyMACIH8rNi/3zNxztQMZTRPd+/iezcX72hT+NxDz+8ydSKIdWBbIwAItmkTU5bfO+mYPOM3kfb41I8e3GqLd7sHTZfXd8eftivT5GYwArAxAoCgWjJ3
2J9uGZfgilBG6+1VP36s9P0NjQoHW7m+ccUnDcocGcnRCrZFABAkiXERT9wy7vpLhpn0KkE97fP6Ggce82mIO/+0vdNjyktjUhIiFWyLACAYDhzwMG1SijLN
hrKgHoZsL3XN3t/81ZQzglISCYCNEQCYzowDHg5FAPr21BtVZjwZlRxPAGyMAMBEJh3wcFgbtxGAvvh61S3LjH9zJFNAtkYAYBaTDng4rNaOnp2yt335o6i8
bfkqg8+HSEk0eBMfgokAwBQmHfBwJJ+Vcvvvl/uf22nswahxMeFhpo/uYBYCAOOZdMBDHzayAOCffY3ex1+pVIZKT2IQYFcEAEYy74CHvq1nAcBvf1y+p6HF
yFcHswxgXwQAhjHvgId+rWcKyG+dHt+vnzPy3cgsA9gXAYAxzDvgoV96+VfaK18G6YWV+7ZUGHZckhn7uhEcBAAGMO+AB39sYP4ncEuf2qEMouf9FOyJ7xwG
xewDHvzBFrABWLul5YONTcoIQdjkAZMQAAxcQZ7L7AMe/MEjQAPz2Eu7lRGiI7mM2BXfOQzQ7KkZf/+l6Qc89Mvb07u1gne/DIReOV+9qVkNGiMA+yIACNhX
BzzERof+359N21u7e8x87aGjPfw3A06IYwRgX3znEJhgHvDgD+Z/BkMPAj7ePNj358RY4D4AA8N3DgEI8gEP/mAL2CA9+uJgBwGMAOyL7xz8FfwDHvyxsaxV
YRD0CGCQJymxBmBfBAD9i4kK/811phzw0OnxrdrYVLanQw1Ig7u7qq5LYXAeGdxKACMA++IQD/QjPyv2jz8dY+AWX1+vKt7Rurqw6cNNTZ+VuL09vUvmDrs+
b5gK3GclvP/dAKs3NeuB1KSCBDUgUZGMAOyKAKAv0yamPHLjaEO2+FbWdR246H9Y2ORuP+jkhs07B3gsAVvAjPKnVyv1N1oNSEQEAbArAoAj0jfm1108qC2+
+kL/z+Lm1Zv2X/crjvzClgEHgAUAo7y5tr6m3pOdHq0C5+3mMVy7IgA4jMS4iIeXjB7YFt/unl59XdYX/VWFTYVlbp8fFwc9j9/S1pMUH9g4Q/+TOQTUKL29
6onXq26bP1wFztvtU7AnAoBvKshz/f+fjQt0i295VYe+6Osfa4qa27sCviIU72ydOj45oC8p29Pe5eXSY5jn36256dJ8V0zAK7rGvmIMwUQAcJDZUzPu+2GB
n1t8G9zda4qa9Mz++xsb9zUO6h0jm3e0BRoAtoAZq63T99d39y6aFfAWP28PGbYrAoAvRISr2xeM6HeLr77d+7SkZfXna7kDnrs/lB4BqACt38YCgMH0UvCC
mTnhAa76MAKwLwKA/TJTon7/4zFH2uKrJ4hLdrfvf4ansGnt1mYz/oPXIwAVIEYAhqtp8Lz9Sf2Mk9MD+irWAOyLAGD/AQ/Lfjr20C2+exs9+6f1P7/u69ke
Zaby6o6OLp//E9CdHt+2PRwCarwnXqsKPACMAOyKAEinh/y3zhv+1RZfvX67dnOzvuLrS39Z5QA36A7A/kHGrjb/TxnasM3dy2XHBJ+VurdXdRyd6/L/Szws
xdsWAZArJir8vmsL5kzN8PWqAw9u6h/6v/9Qna5cvDOAALADwDzPvV3znwtH+P95D8dx2xYBECo/K/b2hSP2Nniu+22Jvu5b4aXqAS0pswfYPC99sO9n84ZH
+b2/lxGAfREAoTq9PT94YIuykqLyAG7qOQXaPO72nhVr6/XQ0M/Pd3QRALviGD+hBvnYvhlKd7f7/JtLqKrrqm+23P9+J3lx5T7/P9zSZu4DAjAPAYBV6LUH
3QB/PskCgNlWFTbtbfT4+eHmVgJgVwQAFrLZv+1gzP8EwfPv7vXzk02MAGyLAMBC/NwOxhawIHjp/X1+PmjLdJx9EQBYiD8PAul1gsLtTAGZbk9t15ri5n4/
1tbJCrCNEQBYyCY/HgTSo4RuHjwPiuUf1vb7maZWbv9tjADAQjo9vj7eG3MA8z9B89bHdf0e9MkKsK0RAFhLv7NAbAELGj29s2pjY9+faSIAdkYAYC39ngu9
gUeAguiNj+v7/gAjAFsjALCWvkcArR09O/ubI4KB9CyQp8/DPhkB2BoBgLX0fYPPS4CDTM8Crd7U1McHWAS2NQIAa3G39/SxB5UFgOB74591ffzdfX5vGIYF
EQBYTh+zQCwABN+KtfV9zAJV13cp2BYBgOX0sR/4M6aAgq7vWaDqekYANkYAYDlHOhFIL/9a4b0FAr155GeBquoYAdgY7wOA5RxpCmgj8z8hsvKzhsP+fndP
L08B2RojAFjOntqulrbD3OmzAhwqDe7uovLDVHn3Pm7/7Y0AwIoOOwtEAEJo5YbDDAJYAbY7AgArOnQWyNvTu7XCr9fFwAzvrz/MmRAsANgdAYAVHRqAou2t
HAIaQhvKWt3t35yXYwRgdwQAVnToiUDM/4Tce4cMAngG1O4IAKxoe2WH9+D7/Q28BzjUPthwSACYArI5AgAr6u395nYwXgMQch8ccjR0FVNANkcAYFFfnwVq
cHdX1nKtCbFGd/fXx2G+XrWjukPBzggALOrrI4D1pS0KFvD1WaCKms5eVuVtjgDAor7+IBALABbx9UOBtlfyVK7tEQBY1JaKNt+XN5gcAmoReiWmrfOL1wTr
hXoFmyMAsKjunt6yPfvvMXUGeA+MRfT41NotzQd+vY0RgP0RAFjXgVkgPdXQ5fUpWMOaoi8CwBSQAxAAWFfxjv1T/8z/WMpXywAlnMxhfxwHDes6MAJgBdhS
Sne3N7V2t3f2eDmZw/4IAKyrcPv+Sz9bwKxm1camlAQuHU7AFBCsq9PjK9vToW85FaxkTVFTGQsAjkDGYWnPvF3NbiOr+ai4OTw8TMH+wgouX60Aq0pwRfAe
YAvKTouuaeAoUNtjBABL4+pvTVz9nYE1AAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgC
AABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAg
FAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEA
ABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQsXjnUAAAEnSURBVAgAAAhFAABAKAIAAEIRAAAQigAAgFAE
AACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIAACAUAQAAoQgAAAhFAABA
KAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQCgCAABCEQAAEIoAAIBQBAAAhCIA
ACAUAQAAoQgAAAhFAABAKAIAAEIRAAAQigAAgFAEAACEIgAAIBQBAAChCAAACEUAAEAoAgAAQhEAABCKAACAUAQAAIQiAAAgFAEAAKEIAAAIRQAAQKj/AwAA
//+c2X30AAAABklEQVQDADiwb7fxwxR3AAAAAElFTkSuQmCC
"""))

    private static let _img_touch_180_png = EmbeddedFile(path: "img/touch-180.png", content: .base64("""
iVBORw0KGgoAAAANSUhEUgAAALQAAAC0CAIAAACyr5FlAAAK8klEQVR4nOzdCXCU5R3H8SfZhNz3aQI5IEAggUC5UYkCVpoiDFoVpMBQBAp1ai1lRMQ6Fi2i
0GpHLW2nMFCqUxiOohzFlsoNcoWQi5CD3HeySXaz2ewRHw2uIe5/jyS77/vu+/tMhlmSN6NDvnnf533e533XI2nheQZgjjsDICAOICEOICEOICEOICEOICEO
ICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEO
ICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOICEOIHkw1xUX5f1A2KAgPw9/Xw8/b4W/
j6KLsfYOg6bDoNYa+YsWtb6gTK3uMDIwx3XiiAn3Skn0G53gN3yw79AYH/6njd9YVtuRe1fNP7JLVGdvKm38rmkpQaMT/ZpadV/caG5u0zNX5Ja08DyTrFHx
fo9NCh03PGDsMH++h2D9ptIYjl9q+Pe5+su5rdQ2C2dFrV0whO+Tuv+q1Rnf2FWy//+1zOVIMo6EaO+50yMWpEfERXozx6hr1h06W/fx5zVVDVrTJ/mBadsv
RsyaEPL97ddsz//v1SbmWqQUB983zHso4qn0SH74YM7yv2vNf/+s8kp+q4+X+55NqeOS/M1uVlip+dFvbjDXIo0xx4y0YN5ExrRw5nR8P8E/8sva+QCWKoNL
ivUJ9FO0qg3MhYg9jqVzHlg5Nzb62wO8UJLjrA9vQwI8EYeT9Br3iZ9G61JlMHHGMe/B8JeejR8c4cWko63dwMewzLWIKw4+S/H7VcNSEv2Z1FzItnWCRELE
EkeAr2L9ooRnZ0W5uzEp4lNhzOWIIo75D0dsXJIYGiDh6dpzWS645xD4wlt8tPcnr6duWztc0mVwO18ZPSzGh7kWISfBVs2LXb8ovtcnNVojn8P+5kPPR3mm
F61qPZ+g5JfQAnwUAb4efFLh6z99FaGBnkwc+Dz6K38p/PR8A3MVwvy+8mmDrWuG8+FnYYXmTkV7YWV7cZWGf/AXnbouZqfo0EHJ8X582pRfapmUHChULl6e
7n94YcSQSO+PDlUwlyDAnoM3MTUlKKdEdatI1a4d+MvlI+N8p44OmpYabPYiiBPsPVnzxq5iJn3Sviprmfcg95kTQjOmhqWPC+GvmRMdOF23YUchkzhFaOoK
5qL0hi5+zDp2qXH38Sr+wkPhPjjSW+GUc2W+d+RHmQvZLUzKXDkOE52hq6C8/bMLDXtOVDe26FIS/H29FczBJiYHKlX6rCIVkyxZxGHSqe/KLFTxRBpadMlx
fv6+jk3kwTHB528pa5o6mTTJK45uBiPjv9B7/1PNh8NpSQGDPB01HHF3d5s5PuTwuXqNVpLLVOUYRzdjF7t2u23/qVo/H8WYoY66msOPX2OHBRw8XcckSO63
JjS16bd9UqrucODV9smjAhfNjmIShPtW2LI5MX4OHp++vDghKkQyC1NM5B4HP+FcOucB5mA8vk3LEpnUyD2OJY9Hhzjlmt+cKWGpTlwXPSBkHYenwm3lE7HM
WV5dKrGdh6zjeGZWlDOv0vFpsRlpwUw6ZB3Hih/HMOf61TNxTDrkGwe/ZjvEnhvm+Fw46zc+ofKDEQFMIuQbx/IMO0YbeaXq9BeufnCwnPXb6vmDmUTINI6R
cb5TRgfauLFSpVv9bh6fa39/f/lPXsuqbtSyfnh0fHBYkFhWr1km0zhsP0kxGrvWbr9d3Xjv4tnNQlXG+sxjF/u+FtDNze2J6QLc19kHcoyDn6HMfyjCxo23
flx6Jf++xzGoNIYX/1Tw6t+KWF/NnW7rf11Ycozj6Ucibdzy+OXGnUerzH5p36naxb/L7tvNsWlJ/rFSuJ9PjnE891i0LZvl3lWv+6DAwgZf5rXO25BZWqNh
9ps1IZSJnuzieDgtOCbc+m9tU6vu+a25Or2VpfCVDdr5G7O+zLV7OeAj44VZ/GwX2cXx3Gzruw2d3vj81rx6pU03Rqs1hqVv5VzNb2X2mDIq0MdL7P/48ooj
MsRz9kTr+/OXdxTeKrZj7afByFa+k8fnQmz/lkGe7hNG2HouLRR5xfFkuvVFNx8erOjDXWv8FGb5ltzKBjumQMYME/vDBOQVx8KZVs5TDpyue29/GeuTxhbd
ks38/MXWWfbUoYhDNPiUaGyEpYsp/MS1n3cilddpV7yda+PGKaJf3iGjOJ5+1NIx5WyW8pfv3Wb9llmosvFeyNhwrwBfh98+0x9yicPyrCj/if58Wx4bIHtP
1py43GjLlkPF/dQGWcSRNNjn4JtjqK8WV2l+tiWnD3f3W7Bhx52K+g6rm8VHOeohuwPC9eP44aTQQ2+NpUYbDcpOPopsax/gWxPUHcY12/K1nVbuZYqPxp5D
OBsWJ3z462TvQeYP7byJn27OqVM65CmA+WXt2/9l5cRnSCT2HEII9vf4529TV8y1tBBw1bt5RVV9uTJio13HqkprLB1cwsW9sMM140iO8/307bTJoyxNQRaU
t9s7590Hm3eXWPhqSADicK6MqWEH3hwbHWbl6lrmnTbmeKczmy08aDBY3I/Jc6k43N3YxiUJ77840pYb550TB/f6zmKD0fypED/2MRFznThCAjz+8Vrq8gxb
7za44aw4ymo79pyoNvslfx9MgjkeH2Qc2WJlkNFTR6fBoUPRXv58uKJTb/60ViHin4ArxGHjIKOn6wWqroGc9LKiuU2/75T5R3QoRPw8b8nHsWlZIjXIKKnu
2H2i+o/7zEw23Chw0jHF5K9HzD+c1M1NvHFI+KHSfDT30brkScn3HUqa2vQXs5X8BOHMzebu97jgF7de+t5NiFlFzo6jurHzwOm6p9J7rxnw9HDTivWtOKQa
B7/evWNdcvehhF8WuVbQej5Lya+s5t7tvRyLT4NW1Gt7vXuL00ajPe04XPHkjIheuwqry1QFJMk4FsyIeGfNcD6LdfRi1YVs5eXcVq3O0lWMnBJVzzj46YMg
7wR7t6bj86vN/FpPz09a/j8XlvTimJgcyGcNpqy+0tRq6+44u0T9+OQw018F2W10O/BFbc84BvyC38CSXhx8zvtqvl3fwfLvX/or4INjz9xUtqj0Qd/OfYn8
EZSyWM/BDys9/+r8UxUTvaHr6KXvVi879CmG/SeLOOqVugblvTuhdXqjXfcQDLgj5+pNr20/MgpCLssEc0vbu19kF6v5ry8TzrXbbaaHONQpRf3ka7nEYTqy
ZBYKdkwxOXTm3s6jvhlxiIBp/iOzUPi3MTh55d7yY+w5ROG7Pccd4fccOSXq7tFGvRJjDhEor9NqtAb+I6lq6NdDmwbK2ZtfrwCqtGGFuoBkdFPTrWL19QLh
dxvd+KUf/mdprajjkPa7udqFH1kaW8SyGz91vZlPnNc0inrMIac47qprGkVxTGHf3JV/9KLY34FWRnHcKlKJZMDRjVo7KB4yiqPYiesCbcHPWZi44c14gIQ4
gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4
gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gIQ4gPQVAAAA//+DQEnNAAAABklEQVQDAP9xoewj9EwDAAAAAElFTkSuQmCC
"""))

    private static let _index_html = EmbeddedFile(path: "index.html", content: .text(#"""
<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
  <meta name="color-scheme" content="light dark">
  <meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
  <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#171b22">
  <meta name="referrer" content="no-referrer">
  <meta name="later" content="js/core-worker-d55552f449ad1b99.js">
  <meta name="later" content="js/i18n-en-2e4c54e0de852af3.js">
  <meta name="later" content="js/i18n-zh-9991380d6e17d28d.js">
  <meta name="later" content="js/views-inside-34c65eaec970d2e0.js">
  <meta name="later" content="js/views-panels-19e814f33cc984d3.js">
  <title>Apus</title>
  <link rel="icon" href="img/icon.svg" type="image/svg+xml">
  <link rel="apple-touch-icon" href="img/touch-180.png">
  <link rel="manifest" href="app.webmanifest">
  <link rel="stylesheet" href="css/page-da54f9b955835000.css">
  <script type="module" src="js/main-b60eaa504809125c.js"></script>
</head>
<body>
  <div id="app"></div>
  <div id="live" class="visually-hidden" aria-live="polite"></div>
  <noscript>Apus needs JavaScript. <span lang="zh-CN">Apus 需要 JavaScript。</span></noscript>
</body>
</html>

"""#))

    private static let _js_core_core_085f8f227a2e6486_js = EmbeddedFile(path: "js/core-core-085f8f227a2e6486.js", content: .text(#"""
export default ({ $core_applying, $core_receipts, $core_requests }) => {
const $socketio_backoff = (() => {

class Backoff {
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
return { Backoff };
})();
const $socketio_emitter = (() => {

class Emitter {
#listeners = new Map();

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
return { Emitter };
})();
const $socketio_errors = (() => {
class SocketError extends Error {
constructor(code, message, data) {
super(message);
this.name = "SocketError";
this.code = code;
this.data = data;
}
}
return { SocketError };
})();
const $socketio_enginepackets = (() => {

const PacketType = Object.freeze({
open: "0", close: "1", ping: "2", pong: "3", message: "4", upgrade: "5", noop: "6",
});

const SEPARATOR = "\x1e";
const isType = (digit) => digit >= "0" && digit <= "6" && digit.length === 1;

function encodeText(packet) {
return packet.data instanceof Uint8Array ? "b" + toBase64(packet.data) : packet.type + (packet.data ?? "");
}

function encodeFrame(packet) {
return packet.data instanceof Uint8Array ? packet.data : packet.type + (packet.data ?? "");
}

function decodeFrame(frame) {
if (typeof frame !== "string") return { type: PacketType.message, data: new Uint8Array(frame) };
if (!isType(frame.charAt(0))) throw new Error("a frame that is not an Engine.IO packet");
return { type: frame.charAt(0), data: frame.slice(1) };
}

function encodePayload(packets) {
return packets.map(encodeText).join(SEPARATOR);
}

function decodePayload(body) {
return body.split(SEPARATOR).map((element) =>
element.charAt(0) === "b" ? { type: PacketType.message, data: fromBase64(element.slice(1)) } : decodeFrame(element));
}

function payloadSize(packet) {
if (packet.data instanceof Uint8Array) return 2 + Math.ceil(packet.data.length / 3) * 4;
return 2 + (packet.data ?? "").length * 3;
}

function toBase64(bytes) {
let binary = "";
for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
return btoa(binary);
}

function fromBase64(text) {
const binary = atob(text);
const bytes = new Uint8Array(binary.length);
for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
return bytes;
}
return { PacketType, encodeText, encodeFrame, decodeFrame, encodePayload, decodePayload, payloadSize };
})();
const $socketio_engine = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType, decodeFrame, decodePayload, encodeFrame, encodePayload, encodeText, payloadSize } = $socketio_enginepackets;

const PROBE_TIMEOUT = 10_000;
const MAXIMUM_PACKETS_A_POST = 64;

class Engine extends Emitter {
#url; #transports; #query; #trace; #timeout;
#state = "idle";
#transport;
#handshake = null;
#queue = [];
#socket = null;
#abort = new AbortController();
#poll = null;
#post = null;
#paused = false;
#openTimer = 0;
#heartbeatTimer = 0;
#lastPing = 0;

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

send(data) {
if (this.#state !== "open") return;
this.#enqueue({ type: PacketType.message, data });
}

close() {
if (this.#state === "closed") return;
if (this.#state === "open") {
this.#queue.push({ type: PacketType.close, data: "" });
if (this.#transport === "polling") this.#lastPost().finally(() => this.#abort.abort());
else this.#writeFrames();
}
this.#closed("forced close", null, { abort: this.#transport !== "polling" || this.#state !== "open" });
}

checkHeartbeat() {
if (this.#state !== "open" || !this.#handshake.pingInterval) return;
const silence = performance.now() - this.#lastPing;
if (silence > this.#handshake.pingInterval + this.#handshake.pingTimeout) {
this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time."));
}
}


#received(packet) {
this.#trace?.({ direction: "in", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
switch (packet.type) {
case PacketType.open: return this.#opened(packet.data);
case PacketType.ping:
this.#armHeartbeat();
return this.#enqueue({ type: PacketType.pong, data: packet.data });
case PacketType.message: return this.fire("message", packet.data);
case PacketType.close: return this.#closed("transport close");
default: return;
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
if (!pingInterval) return;
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
if (this.#post) await this.#post;
await fetch(this.#address("polling"), { method: "POST", body, headers: { "Content-Type": "text/plain;charset=UTF-8" }, keepalive: body.length < 60_000 })
.catch(() => {});
}

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
socket.onerror = () => {};
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


#probe() {
const socket = this.#makeSocket();
const trace = (direction, data) => this.#trace?.({ direction, transport: "websocket", data });
const failed = () => {
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

function refusal(status, text) {
try {
const { message } = JSON.parse(text);
if (message) return `${message} (HTTP ${status})`;
} catch { /* not JSON */ }
return `The server answered HTTP ${status}.`;
}
return { Engine };
})();
const $socketio_packets = (() => {

const PacketType = Object.freeze({ connect: 0, disconnect: 1, event: 2, ack: 3, connectError: 4, binaryEvent: 5, binaryAck: 6 });

const MAXIMUM_ATTACHMENTS = 64;
const RESERVED = new Set(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]);

function encodePacket({ type, namespace = "/", data, id }) {
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

class PacketDecoder {
#pending = null;

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
validate(packet);
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
return { PacketType, encodePacket, PacketDecoder };
})();
const $socketio_socket = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType } = $socketio_packets;

class Socket {
#manager; #auth;
#local = new Emitter();
#remote = new Emitter();
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
this.wanted = false;
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

emit(name, ...values) {
if (!this.connected) return false;
this.#manager.send({ type: PacketType.event, namespace: this.namespace, data: [name, ...values] });
return true;
}

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

engineClosed(reason, error) {
if (this.wanted && !this.connected) {
this.#local.fire("connect_error", error ?? new SocketError("transport", reason));
}
this.#ended(reason);
}

giveUp() { this.wanted = false; }

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
if (!waiting) return;
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
return { Socket };
})();
const $socketio_manager = (() => {

const { Backoff } = $socketio_backoff;
const { Emitter } = $socketio_emitter;
const { Engine } = $socketio_engine;
const { PacketDecoder, encodePacket } = $socketio_packets;
const { Socket } = $socketio_socket;

class SocketManager extends Emitter {
#options;
#sockets = new Map();
#engine = null;
#decoder = null;
#backoff;
#retryTimer = 0;
#state = { name: "closed", attempt: 0 };

constructor(url, options = {}) {
super();
this.#options = { path: "/socket.io/", transports: ["polling", "websocket"], timeout: 20_000, reconnection: {}, ...options };
this.url = new URL(this.#options.path, url);
this.#backoff = new Backoff(this.#options.reconnection || {});
globalThis.addEventListener?.("online", () => this.retryNow());
globalThis.addEventListener?.("offline", () => this.drop());
globalThis.document?.addEventListener("visibilitychange", () => {
if (document.visibilityState === "visible") this.resume();
});
}

get state() { return this.#state; }
get timeout() { return this.#options.timeout; }
get transport() { return this.#engine?.isOpen ? this.#engine.transport : null; }
get engineID() { return this.#engine?.id ?? null; }

socket(namespace = "/", options = {}) {
if (!this.#sockets.has(namespace)) this.#sockets.set(namespace, new Socket(this, namespace, options));
return this.#sockets.get(namespace);
}

retryNow() {
if (this.#state.name !== "waiting") return;
clearTimeout(this.#retryTimer);
this.#open();
}

resume() {
this.#engine?.checkHeartbeat();
this.retryNow();
}


join(socket) {
if (this.#engine?.isOpen) socket.engineOpened();
else if (this.#state.name === "closed") this.#open();
else this.retryNow();
}

left() {
if ([...this.#sockets.values()].some((socket) => socket.wanted)) return;
clearTimeout(this.#retryTimer);
this.#backoff.reset();
this.#engine?.close();
this.#engine = null;
this.#change({ name: "closed", attempt: 0 });
}

send(packet) {
for (const frame of encodePacket(packet)) this.#engine?.send(frame);
}

joined() {
this.#backoff.reset();
}

drop() {
this.#engine?.close();
}


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

return { SocketManager };
})();
const $socketio_index = (() => {

const { SocketManager } = $socketio_manager;
const { SocketError } = $socketio_errors;
const { Emitter } = $socketio_emitter;
return { SocketManager, SocketError, Emitter };
})();
const $core_connection = (() => {

const { SocketManager } = $socketio_index;
const { Refusal, deviceDescription, post, refusal } = $core_requests;

const MOST_HELD = 10_000;
const RENEWED = 120_000;
const FINAL = new Set(["signed_out", "account_closed", "protocol_error", "version"]);

class Connection {
#core;
#manager = null;
#socket = null;
#isReady = false;
#held = [];
#state = { state: "offline", since: Date.now() };
#waiting = new Set();
#isWanted = false;
#pause = 0;
#expiresAt = null;
#renewal = 0;
#renewing = null;

constructor(core) { this.#core = core; }

get state() { return this.#state; }
get isReady() { return this.#isReady; }

start() {
if (!this.#manager) {
this.#manager = new SocketManager(globalThis.location.origin, { transports: ["websocket", "polling"], reconnection: { from: 300, to: 15_000 } });
this.#manager.on("state", (state) => this.#managed(state));
this.#socket = this.#manager.socket("/chat");
this.#socket.on("connect", () => this.#hello());
this.#socket.on("disconnect", (reason) => {
this.#lost();
if (reason === "io server disconnect") this.#again();
});
this.#socket.on("connect_error", (error) => this.#refused(error.data));
this.#socket.on("bye", (body) => this.#goodbye(body));
for (const name of ["event", "head", "mark", "presence", "typing", "user", "signal"]) this.#socket.on(name, (body) => this.#pushed(name, body));
}
this.#isWanted = true;
this.#change("connecting");
this.#socket.connect();
}

stop() {
this.#isWanted = false;
clearTimeout(this.#renewal);
this.#socket?.disconnect();
this.#lost();
this.#change("offline");
}

network(event) {
if (event === "offline") this.#manager?.drop();
else this.#manager?.resume();
}

async call(verb, body) {
if (!this.#isReady) {
const { epoch } = this.#core.cached;
await this.#untilReady();
if (epoch !== undefined && epoch !== this.#core.cached.epoch) throw new Refusal({ code: "offline", message: "The data of the server was replaced while the request waited." });
}
const [answer] = await this.#socket.emitWithAck(verb, [clean(body)]).catch((error) => { throw refusal(error); });
if (answer?.error) throw new Refusal(answer.error);
return answer ?? {};
}

granted({ access_expires_at: expiresAt }) {
this.restore(expiresAt);
this.#core.database.setMeta("access", expiresAt);
this.#renewLater();
}

restore(expiresAt = 0) { this.#expiresAt = expiresAt; }

#renewLater() {
clearTimeout(this.#renewal);
if (this.#expiresAt === null) return;
const left = this.#expiresAt - this.#core.now;
this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, Math.max(1000, left - Math.min(RENEWED, left / 2)));
}

renew() {
this.#renewing ??= this.#renew().finally(() => { this.#renewing = null; });
return this.#renewing;
}

async #renew() {
if (!this.#isReady) this.#change("connecting");
try {
this.granted(await post("/api/refresh", { refresh: "cookie" }));
if (this.#isWanted) this.#socket.connect();
} catch (error) {
if (error.code === "unauthorized") { this.stop(); return this.#core.dismissed("signed_out"); }
clearTimeout(this.#renewal);
this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, 3000);
}
}

async #hello() {
try {
const { epoch, since } = this.#core.cached;
const [answer] = await this.#socket.emitWithAck("hello", [clean({ version: 1, features: [], device: deviceDescription(), epoch, sync: { since } })]);
if (answer.error) throw new Refusal(answer.error);
let sync = await this.#core.welcomed(answer, this.#held);
while (sync) sync = await this.#page(sync);
this.#isReady = true;
this.#change("online");
for (const resolve of this.#waiting) resolve();
this.#waiting.clear();
this.#core.connected();
this.#renewLater();
for (const [name, body] of this.#held.splice(0)) this.#core.pushed(name, body);
} catch (error) {
if (error.code === "unauthorized") await this.renew();
else console.warn("hello:", error);
this.#manager?.drop();
}
}

async #page(request) {
const [answer] = await this.#socket.emitWithAck("sync", [clean(request)]);
if (answer.error?.code === "resync") return { since: undefined };
if (answer.error) throw new Refusal(answer.error);
return this.#core.synced(answer, request, this.#held);
}

#untilReady() {
if (this.#state.state === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
return new Promise((resolve, reject) => {
this.#waiting.add(resolve);
setTimeout(() => { if (this.#waiting.delete(resolve)) reject(new Refusal({ code: "offline", message: "There is no connection." })); }, 5000);
});
}

#refused(refusal) {
if (refusal?.code === "unauthorized") this.renew();
else if (refusal?.code) {
this.#pause = refusal.retry_after ?? 2000;
this.#again();
}
}

#goodbye({ reason, retry_after: pause }) {
this.#pause = pause ?? 0;
if (!FINAL.has(reason)) return;
this.stop();
this.#core.dismissed(reason);
}

#again() {
if (!this.#isWanted) return;
this.#change("connecting");
const delay = this.#pause + 200 + Math.random() * Math.max(800, this.#pause / 2);
this.#pause = 0;
setTimeout(() => { if (this.#isWanted) this.#socket.connect(); }, delay);
}

#pushed(name, body) {
if (this.#isReady) this.#core.pushed(name, body);
else if (this.#held.length < MOST_HELD) this.#held.push([name, body]);
else this.#manager.drop();
}

#lost() {
const wasReady = this.#isReady;
this.#isReady = false;
this.#held = [];
if (wasReady) this.#core.disconnected();
}

#managed({ name, attempt = 0, retryAt }) {
if (name === "open") return;
if (name === "waiting" && this.#isWanted) this.#change(attempt >= 2 || navigator.onLine === false ? "offline" : "connecting", retryAt);
else if (name === "closed" && !this.#isWanted) this.#change("offline");
}

#change(state, retryAt) {
if (this.#state.state === state && this.#state.retryAt === retryAt) return;
this.#state = { state, since: this.#state.state === state ? this.#state.since : Date.now(), retryAt };
this.#core.emit({ type: "connection", connection: this.#state });
}
}

const clean = (body) => JSON.parse(JSON.stringify(body ?? {}));
return { Connection };
})();
const $core_database = (() => {

const NAME = "apus-chat";
const VERSION = 2;
const INDEXES = { at: "at", expires_at: "expires_at" };
const STORES = { meta: "key", heads: "conv", cursors: "conv", users: "name", outbox: "key", events: ["conv", "seq"] };

class Database {
#db = null;

static async open(name = NAME) {
const database = new Database();
try {
database.#db = await new Promise((resolve, reject) => {
const request = indexedDB.open(name, VERSION);
request.onupgradeneeded = () => {
const { result, transaction } = request;
for (const [store, keyPath] of Object.entries(STORES)) if (!result.objectStoreNames.contains(store)) result.createObjectStore(store, { keyPath });
const events = transaction.objectStore("events");
for (const [index, keyPath] of Object.entries(INDEXES)) if (!events.indexNames.contains(index)) events.createIndex(index, keyPath);
};
request.onsuccess = () => resolve(request.result);
request.onerror = () => reject(request.error);
request.onblocked = () => reject(new Error("blocked"));
});
database.#db.onversionchange = () => database.close();
} catch (error) {
console.warn("No cache:", error);
}
return database;
}

close() { this.#db?.close(); this.#db = null; }

async get(store, key) { return this.#run(store, "readonly", (each) => each.get(key)); }
async all(store) { return (await this.#run(store, "readonly", (each) => each.getAll())) ?? []; }

async stores(...names) {
if (!this.#db) return Object.fromEntries(names.map((name) => [name, []]));
return new Promise((resolve, reject) => {
const transaction = this.#db.transaction(names, "readonly");
const requests = names.map((name) => [name, transaction.objectStore(name).getAll()]);
transaction.oncomplete = () => resolve(Object.fromEntries(requests.map(([name, request]) => [name, request.result])));
transaction.onerror = transaction.onabort = () => reject(transaction.error);
});
}

put(store, ...values) { return values.length ? this.#run(store, "readwrite", (each) => { for (const value of values) each.put(value); }) : Promise.resolve(); }
delete(store, ...keys) { return this.#run(store, "readwrite", (each) => { for (const key of keys) each.delete(key); }); }
async meta(key) { return (await this.get("meta", key))?.value; }
setMeta(key, value) { return this.put("meta", { key, value }); }

async events(conv, from, to) {
return (await this.#run("events", "readonly", (each) => each.getAll(IDBKeyRange.bound([conv, from], [conv, to])))) ?? [];
}

async trailing(conv, to, limit) {
if (!this.#db) return [];
return new Promise((resolve) => {
const found = [];
const request = this.#db.transaction("events").objectStore("events").openCursor(IDBKeyRange.bound([conv, 0], [conv, to]), "prev");
request.onerror = () => resolve(found.reverse());
request.onsuccess = () => {
const cursor = request.result;
if (!cursor || found.length === limit || (found.length > 0 && found.at(-1).seq !== cursor.value.seq + 1)) return resolve(found.reverse());
found.push(cursor.value);
cursor.continue();
};
});
}

async count(conv, last = Infinity) {
return (await this.#run("events", "readonly", (each) => each.count(conv === undefined ? undefined : IDBKeyRange.bound([conv, 0], [conv, last])))) ?? 0;
}

forget(conv, below = Infinity) { return this.#run("events", "readwrite", (each) => each.delete(IDBKeyRange.bound([conv, 0], [conv, below]))); }

async scan({ conv, after }, visit) {
if (!this.#db) return;
await new Promise((resolve) => {
const events = this.#db.transaction("events").objectStore("events");
const all = after ? IDBKeyRange.upperBound(after.at) : null;
const request = conv === undefined ? events.index("at").openCursor(all, "prev") : events.openCursor(IDBKeyRange.bound([conv, 0], [conv, after ? after.seq : Infinity], false, Boolean(after)), "prev");
let isPassing = Boolean(after) && conv === undefined;
request.onerror = resolve;
request.onsuccess = () => {
const cursor = request.result;
if (!cursor) return resolve();
if (isPassing) {
const order = indexedDB.cmp([cursor.key, cursor.primaryKey], [after.at, [after.conv, after.seq]]);
if (order > 0) return cursor.continuePrimaryKey(after.at, [after.conv, after.seq]);
isPassing = false;
if (order === 0) return cursor.continue();
}
if (visit(cursor.value) === false) return resolve();
cursor.continue();
};
});
}

async expired(now) {
if (!this.#db) return { events: [], next: undefined };
const events = await this.#run("events", "readonly", (each) => each.index("expires_at").getAll(IDBKeyRange.upperBound(now)));
const next = await this.#run("events", "readonly", (each) => each.index("expires_at").openCursor(IDBKeyRange.lowerBound(now, true)));
return { events: events ?? [], next: next?.key };
}

async wipe(kept = []) {
if (!this.#db) return;
await Promise.all(Object.keys(STORES).filter((store) => !kept.includes(store)).map((store) => this.#run(store, "readwrite", (each) => each.clear())));
}

#run(store, mode, work) {
if (!this.#db) return Promise.resolve(undefined);
return new Promise((resolve, reject) => {
const transaction = this.#db.transaction(store, mode);
const request = work(transaction.objectStore(store));
transaction.oncomplete = () => resolve(request?.result);
transaction.onerror = transaction.onabort = () => reject(transaction.error);
});
}
}
return { Database };
})();
const $core_expiry = (() => {

const { expiring, isBlank } = $core_applying;

const LONGEST = 3_600_000;
const PAUSE = 20;

const endOf = ({ settings, last }) => (settings?.expire > 0 && last?.n !== undefined && !isBlank(last) ? last.at + settings.expire * 1000 : Infinity);

class Expiry {
#core;
#timer = 0;
#at = Infinity;

constructor(core) { this.#core = core; }

clear() {
clearTimeout(this.#timer);
this.#at = Infinity;
}

stored(events) {
const first = events.reduce((least, { expires_at: at }) => Math.min(least, at ?? Infinity), Infinity);
if (first < this.#at) this.#wait(first);
}

heads(heads) {
const first = Math.min(...heads.map(endOf));
if (first < this.#at) this.#wait(first);
}

async sweep() {
this.#at = Infinity;
const { database, now } = this.#core;
const { events, next } = await database.expired(now);
await database.put("events", ...events.map((event) => expiring(event)));
for (const conv of new Set(events.map((event) => event.conv))) {
const ended = events.filter((event) => event.conv === conv);
this.#core.expired(conv, new Set(ended.map(({ seq }) => seq)), ended.filter(({ state }) => state === "edited").map(({ seq }) => seq));
}
for (const head of [...this.#core.heads]) if (endOf(head) <= now) this.#core.expired(head.conv, new Set([head.last.seq]));
this.heads([...this.#core.heads]);
if (next !== undefined && next < this.#at) this.#wait(next);
}

#wait(at) {
this.#at = at;
clearTimeout(this.#timer);
const delay = Math.min(LONGEST, Math.max(0, at - this.#core.now) + PAUSE);
this.#timer = setTimeout(() => this.sweep().catch((error) => console.warn("expiry:", error)), delay);
}
}
return { Expiry };
})();
const $core_cursor = (() => {

const PATIENCE = 500;
const FARTHEST = 400;
const SLOWEST = 30_000;

class LogCursor {
#state = "idle";
#held = new Map();
#fruitless = 0;

constructor({ cursor = 0, isPrimed = false } = {}) {
this.cursor = cursor;
this.head = cursor;
this.isPrimed = isPrimed;
}

get isBehind() { return this.head > this.cursor; }

received(event) {
if (event.seq <= this.cursor) return {};
this.head = Math.max(this.head, event.seq);
this.#held.set(event.seq, event);
if (event.seq === this.cursor + 1) {
const apply = this.#drain();
if (this.#state === "waiting" && !this.isBehind) this.#state = "idle";
return { apply };
}
return this.#waits();
}

announced(head) {
this.head = Math.max(this.head, head);
return this.isBehind ? this.#waits() : {};
}

ended(head) { this.head = Math.max(this.cursor, head); }

resumed() { return this.isBehind && this.#state !== "pulling" ? this.#pull() : {}; }

timerFired() {
if (this.#state !== "waiting") return {};
if (this.isBehind) return this.#pull();
this.#state = "idle";
return {};
}

disconnected() { this.#state = "idle"; }

page(events, head) {
this.head = Math.max(this.head, head);
const before = this.cursor;
const fresh = events.filter((event) => event.seq > before);
let gap;
if (fresh.length > 0 && fresh[0].seq - 1 > before) {
if (this.isPrimed) gap = fresh[0].seq - 1;
this.cursor = fresh[0].seq - 1;
}
for (const event of fresh) this.#held.set(event.seq, event);
const apply = this.#drain();
return { apply, gap, ...this.#after(this.cursor > before) };
}

pullFailed() { return this.#state === "pulling" ? this.#after(false) : {}; }

restart(seq) {
this.cursor = Math.max(this.cursor, seq);
this.head = Math.max(this.head, this.cursor);
return this.#drain();
}

#waits() {
if (this.#state !== "idle") return {};
this.#state = "waiting";
return { wait: PATIENCE };
}

#after(madeProgress) {
this.#state = "idle";
if (!this.isBehind) { this.#fruitless = 0; return {}; }
if (madeProgress) { this.#fruitless = 0; return this.#pull(); }
this.#state = "waiting";
return { wait: Math.min(SLOWEST, 1000 * 2 ** this.#fruitless++) };
}

#pull() {
this.#state = "pulling";
const isNear = this.isPrimed && this.head - this.cursor <= FARTHEST;
return { pull: isNear ? { from: this.cursor + 1, limit: 200 } : { limit: 80 } };
}

#drain() {
const events = [];
for (const seq of this.#held.keys()) if (seq <= this.cursor) this.#held.delete(seq);
while (this.#held.has(this.cursor + 1)) {
this.cursor += 1;
events.push(this.#held.get(this.cursor));
this.#held.delete(this.cursor);
}
if (events.length > 0) this.isPrimed = true;
return events;
}
}
return { LogCursor };
})();
const $core_logs = (() => {

const { applying, isBlank, keeping, repeats } = $core_applying;
const { LogCursor } = $core_cursor;
const { Refusal } = $core_requests;

const PULLS = 3;
const MOST_CACHED = 30_000;
const KEPT = [1000, 200, 40];

class Logs {
#core;
#cursors = new Map();
#timers = new Map();
#queue = [];
#pulling = 0;
#keeping = Promise.resolve();

constructor(core) { this.#core = core; }

get #database() { return this.#core.database; }

restore(cursors) { for (const { conv, cursor, isPrimed } of cursors) this.#cursors.set(conv, new LogCursor({ cursor, isPrimed })); }
cursor(conv) { return this.#cursors.get(conv)?.cursor ?? 0; }

clear() {
for (const timer of this.#timers.values()) clearTimeout(timer);
for (const each of [this.#cursors, this.#timers]) each.clear();
this.#queue = [];
}

gone(conv) {
this.#cursors.delete(conv);
this.#database.forget(conv);
this.#database.delete("cursors", conv);
}

announced(conv, seq, isSync) {
const cursor = this.#cursors.get(conv);
if (!cursor) return this.#cursors.set(conv, new LogCursor({ cursor: seq }));
if (!cursor.isPrimed) {
if (seq > cursor.cursor) this.#core.emit({ type: "gap", conv });
return void cursor.restart(seq);
}
if (isSync) cursor.head = Math.max(cursor.head, seq);
else this.#act(conv, cursor.announced(seq));
}

ended(conv, seq) { this.#cursors.get(conv)?.ended(seq); }

connected() { for (const [conv, cursor] of this.#cursors) this.#act(conv, cursor.resumed()); }

disconnected() {
this.#queue = [];
for (const cursor of this.#cursors.values()) cursor.disconnected();
}

received(events) {
for (const event of events) this.#act(event.conv, this.#of(event.conv, event.seq - 1).received(event));
}

async prefetch(convs) {
for (const conv of convs) {
if (!this.#core.isOnline) return;
if (!(this.#cursors.get(conv)?.isPrimed)) await this.page({ conv, limit: 40 }).catch(() => {});
}
}

async trim(most = MOST_CACHED) {
let count = await this.#database.count();
const logs = [...this.#cursors].sort(([one], [other]) => (this.#core.head(one)?.at ?? 0) - (this.#core.head(other)?.at ?? 0));
for (const kept of KEPT) {
for (const [conv, { cursor }] of logs) {
if (count <= most) return;
const removed = cursor > kept ? await this.#database.count(conv, cursor - kept) : 0;
if (removed > 0) await this.#database.forget(conv, cursor - kept);
count -= removed;
}
}
}

async page({ conv, from, before, around, limit = 50, thread }) {
const head = this.#core.head(conv);
const known = this.#cursors.get(conv);
const low = head?.min_seq ?? 1;
const isOffline = this.#core.connectionState === "offline" || (this.#core.connectionState === "connecting" && !this.#core.wasOnline);
if (thread === undefined && known?.isPrimed) {
const isNewest = from === undefined && before === undefined && around === undefined;
const first = Math.max(low, from ?? (before !== undefined ? before - limit : around !== undefined ? around - (limit >> 1) : known.cursor - limit + 1));
const last = Math.min(known.cursor, isNewest ? known.cursor : before !== undefined ? before - 1 : first + limit - 1);
let events = await this.#database.events(conv, first, last);
const isWhole = events.length > 0 && events.length === last - first + 1;
const isCurrent = isNewest || from !== undefined ? !known.isBehind || isOffline : true;
if (!isWhole && isOffline && from === undefined) events = await this.#database.trailing(conv, around !== undefined ? around : last, limit);
if (isWhole ? isCurrent : isOffline && events.length > 0) {
return { conv, events, seq: Math.max(known.cursor, events.at(-1).seq), min_seq: isWhole ? low : events[0].seq, isPartial: !isWhole };
}
if (isOffline && before !== undefined) return { conv, events: [], seq: known.cursor, min_seq: before, isPartial: true };
}
if (thread !== undefined && known?.isPrimed && isOffline && from === undefined) {
const events = (await this.#database.events(conv, thread, (before ?? Infinity) - 1)).filter((event) => event.thread === thread);
return { conv, events: events.slice(-limit), seq: known.cursor, min_seq: low };
}
if (isOffline && this.#core.connectionState === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
const page = await this.#core.call("history", { conv, from, before, around, limit, thread });
return thread === undefined ? this.#adopt(conv, page) : { ...page, events: withMine(page) };
}

async edits({ conv, seq }) {
const { events } = await this.#core.call("history", { conv, edits: seq, limit: 200 });
const versions = events.map((event) => ({ at: event.at, body: event.seq === seq ? event.body : event.body?.body }));
return versions.filter(({ body }) => body).reverse();
}

async #adopt(conv, page) {
const events = withMine(page);
const cursor = this.#of(conv, page.seq);
if (events.length === 0 && page.seq <= cursor.cursor && !cursor.isPrimed) {
cursor.isPrimed = true;
this.#saveCursor(conv, cursor);
} else if (events.length > 0) {
const last = events.at(-1).seq;
if (!cursor.isPrimed && last >= cursor.cursor) {
const after = cursor.restart(last);
cursor.isPrimed = true;
await this.#put(events);
this.#saveCursor(conv, cursor);
this.#apply(conv, after);
} else await this.#put(events.filter((event) => event.seq <= cursor.cursor));
if (cursor.isPrimed && last > cursor.cursor && events[0].seq <= cursor.cursor + 1) {
for (const event of events.filter((each) => each.seq > cursor.cursor)) this.#act(conv, cursor.received(event));
}
}
return { ...page, events, mine: undefined };
}

#of(conv, begin) {
if (!this.#cursors.has(conv)) this.#cursors.set(conv, new LogCursor({ cursor: Math.max(0, begin) }));
return this.#cursors.get(conv);
}

#act(conv, { apply, gap, wait, pull }) {
if (gap !== undefined) {
this.#database.forget(conv, gap);
if (apply?.length) this.#put(apply);
this.#core.emit({ type: "gap", conv });
}
if (apply?.length) this.#apply(conv, apply);
if (wait !== undefined) {
clearTimeout(this.#timers.get(conv));
this.#timers.set(conv, setTimeout(() => {
const cursor = this.#cursors.get(conv);
if (cursor && this.#core.isOnline) this.#act(conv, cursor.timerFired());
}, wait));
}
if (pull) {
this.#queue.push([conv, pull]);
this.#pullNext();
}
}

async #pullNext() {
if (this.#pulling >= PULLS || this.#queue.length === 0) return;
const [conv, range] = this.#queue.shift();
const cursor = this.#cursors.get(conv);
if (!cursor) return this.#pullNext();
this.#pulling += 1;
try {
const page = await this.#core.call("history", { conv, ...range });
this.#act(conv, cursor.page(withMine(page), page.seq));
} catch (error) {
if (error.code === "not_found") this.gone(conv);
else this.#act(conv, cursor.pullFailed());
} finally {
this.#pulling -= 1;
this.#pullNext();
}
}

#apply(conv, events) {
if (events.length === 0) return;
const stamped = events.map((event) => ({ ...event, asOf: Math.max(event.asOf ?? 0, event.seq) }));
this.#core.applied(conv, stamped);
const cursor = this.#cursors.get(conv);
this.#keeping = this.#keeping.then(() => this.#keep(conv, stamped, cursor)).catch((error) => console.warn("cache:", error));
}

async #keep(conv, events, cursor) {
if (!cursor || this.#cursors.get(conv) !== cursor) return;
await this.#put(events);
for (const change of events) {
const place = change.n === undefined ? change.ref : change.thread;
if (place === undefined) continue;
const [target] = await this.#database.events(conv, place, place);
if (!target || target.asOf >= change.seq) continue;
const after = applying(target, change, this.#core.user?.name);
if (after !== target) await this.#put([{ ...after, asOf: change.seq }]);
if (change.kind === "recall" || (repeats(change) && isBlank(after))) await this.blankEdits(conv, [change.ref], after.state);
}
if (this.#cursors.get(conv) === cursor) await this.#saveCursor(conv, cursor, events.at(-1).seq);
}

async blankEdits(conv, seqs, state) {
const edits = (await this.#database.events(conv, Math.min(...seqs), Infinity)).filter((event) => repeats(event) && event.body && seqs.includes(event.ref));
await this.#database.put("events", ...edits.map(({ body: _, ...event }) => ({ ...event, state })));
}

async #put(events) {
const kept = await Promise.all(events.map((event) => this.#kept(event, events)));
await this.#database.put("events", ...kept);
this.#core.stored(kept);
}

async #kept(event, others) {
if (!repeats(event) || !event.body) return event;
return keeping(event, others.find(({ seq }) => seq === event.ref) ?? (await this.#database.get("events", [event.conv, event.ref])));
}

#saveCursor(conv, { cursor, isPrimed }, stored = cursor) { return this.#database.put("cursors", { conv, cursor: Math.min(cursor, stored), isPrimed }); }
}

function withMine(page) {
const mine = new Map((page.mine ?? []).map(({ seq, ...each }) => [seq, each]));
return page.events.map((event) => ({ ...event, ...(mine.has(event.seq) && { mine: mine.get(event.seq) }), asOf: page.seq }));
}
return { Logs };
})();
const $core_uploads = (() => {

const { Refusal, answer, reach } = $core_requests;

const PART = 512 * 1024;
const TUS = { "Tus-Resumable": "1.0.0" };

async function upload(file, { name = file.name ?? "", address, began = () => {}, progress = () => {}, signal } = {}) {
let offset = address ? await offsetOf(address, signal) : null;
if (offset === null) {
address = await create(file, name, signal);
await began(address);
offset = 0;
}
let headers;
do {
progress(file.size ? offset / file.size : 1);
const part = await file.slice(offset, offset + PART).arrayBuffer().catch(({ message }) => { throw new Refusal({ code: "not_found", field: "blob", message }); });
const response = await reach(address, { method: "PATCH", body: part, signal, headers: { ...TUS, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" } });
if (response.status === 409) { offset = (await offsetOf(address, signal)) ?? 0; continue; }
if (!response.ok) await answer(response);
headers = response.headers;
offset = Number(headers.get("Upload-Offset"));
} while (offset < file.size);
headers = headers?.get("Chat-Blob") ? headers : (await reach(address, { method: "HEAD", headers: TUS, signal })).headers;
if (!headers.get("Chat-Blob")) throw new Refusal({ code: "internal", message: "The server has not reported the blob of the complete upload." });
const size = { width: Number(headers.get("Chat-Width")) || undefined, height: Number(headers.get("Chat-Height")) || undefined };
return { blob: headers.get("Chat-Blob"), type: headers.get("Chat-Type"), size: Number(headers.get("Chat-Size")), ...(size.width && size) };
}

function uploaded({ kind, body }, blob) {
const family = blob.type.split("/")[0];
if (kind === "audio" && family === "video") return { kind, body: { ...body, ...blob, type: `audio/${blob.type.slice(6)}` } };
if (kind === family) return { kind, body: { ...body, ...blob } };
const { name, text, entities } = body;
return { kind: "file", body: { name: name ?? "file", ...(text && { text, entities }), blob: blob.blob, size: blob.size, type: blob.type } };
}

const cancel = (address) => reach(address, { method: "DELETE", headers: TUS }).catch(() => {});

async function create(file, name, signal) {
const metadata = Object.entries({ name, type: file.type || "application/octet-stream" }).filter(([, value]) => value).map(([key, value]) => `${key} ${base64(value)}`).join(",");
const response = await reach("/api/uploads", { method: "POST", signal, headers: { ...TUS, "Upload-Length": String(file.size), "Upload-Metadata": metadata } });
if (!response.ok) await answer(response);
return response.headers.get("Location");
}

async function offsetOf(address, signal) {
const response = await reach(address, { method: "HEAD", headers: TUS, signal });
return response.ok ? Number(response.headers.get("Upload-Offset")) : null;
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
return { upload, uploaded, cancel };
})();
const $core_outbox = (() => {

const { Refusal, refusal, uuid } = $core_requests;
const { cancel, upload, uploaded } = $core_uploads;

class Outbox {
#core;
#items = new Map();
#busy = new Set();
#uploads = new Map();
#pauses = new Map();
#attempts = new Map();
#renewed = new Set();
#cited = new Map();

constructor(core) { this.#core = core; }

get items() { return [...this.#items.values()]; }
get shown() { return this.items.map(shown); }
get unsent() { return this.items.filter((item) => item.status !== "sent").length; }

restore(items, cited = []) {
this.#cited = new Map(cited);
for (const item of items) this.#items.set(item.key, item.status === "failed" ? item : { ...item, status: "queued" });
}

clear() {
for (const controller of this.#uploads.values()) controller.abort();
for (const each of [this.#items, this.#busy, this.#uploads, this.#pauses, this.#attempts, this.#renewed, this.#cited]) each.clear();
}

async add({ key = uuid(), conv, kind, body, ref, thread, silent, file, poster }) {
if (this.#items.has(key)) return key;
const item = { key, conv, kind, body, ref, thread, silent, file, poster, status: "queued", at: Date.now() };
await this.#set(item);
this.run();
return key;
}

async retry(key) {
const item = this.#items.get(key);
if (!item) return;
this.#pauses.delete(item.conv);
this.#attempts.delete(key);
this.#renewed.delete(key);
await this.#set({ ...item, status: "queued", error: undefined });
this.run();
}

async discard(key) {
const item = this.#items.get(key);
if (!item) return;
this.#uploads.get(key)?.abort();
if (item.address) cancel(item.address);
await this.#remove(item);
}

async requeue() {
for (const { seq: _, ...item } of this.#items.values()) {
const { key, conv } = item;
const refs = [item.ref, item.thread].filter((seq) => seq !== undefined);
if (refs.length > 0 && !this.#cited.has(key)) {
this.#cited.set(key, await Promise.all(refs.map(async (seq) => [seq, identity((await this.#core.database.events(conv, seq, seq))[0])])));
}
if (item.status === "sent") this.#items.set(key, { ...item, status: "queued" });
}
await this.#saveCited();
}

#saveCited() { return this.#core.database.setMeta("cited", [...this.#cited]); }

async #verify({ key, conv }) {
const lost = [];
for (const [seq, known] of this.#cited.get(key)) {
const found = known && (await this.#core.call("history", { conv, from: seq, limit: 1 })).events[0];
if (!known || found?.seq !== seq || identity(found) !== known) lost.push(seq);
}
const item = this.#items.get(key);
if (!item) return false;
if (lost.includes(item.thread)) throw new Refusal({ code: "not_found", message: "The server does not have the message that began this thread.", field: "thread" });
await this.#set({ ...item, ref: lost.includes(item.ref) ? undefined : item.ref });
this.#cited.delete(key);
await this.#saveCited();
return lost.length > 0;
}

applied(conv, cursor) {
for (const item of this.#items.values()) if (item.conv === conv && item.seq <= cursor) this.#remove(item);
}

disconnected() { this.#pauses.clear(); }

run() {
if (!this.#core.isOnline) return;
const taken = new Set(this.#busy);
const uploading = new Set();
for (const item of this.#items.values()) {
if (item.status === "failed" || item.status === "sent") continue;
if (item.file && !item.body.blob) { uploading.add(item.conv); this.#upload(item); continue; }
if (taken.has(item.conv) || (item.file && uploading.has(item.conv))) continue;
taken.add(item.conv);
if ((this.#pauses.get(item.conv) ?? 0) <= Date.now()) this.#send(item);
}
}

async #send(item) {
this.#busy.add(item.conv);
const { key, conv } = item;
let hasLost = false;
try {
this.#show({ ...item, status: "sending" });
if (this.#cited.has(key)) hasLost = await this.#verify(item);
const { kind, body, ref, thread, silent } = (item = this.#items.get(key) ?? item);
const ack = await this.#core.call("send", { id: key, conv, kind, body, ref, thread, silent });
if (!this.#items.has(key)) return;
this.#show({ ...this.#items.get(key), status: "sent", seq: ack.seq });
this.#core.acknowledged({ conv, seq: ack.seq, n: ack.n, sender: this.#core.user?.name, id: key, at: ack.at, kind, body, ...(ref !== undefined && { ref }), ...(thread !== undefined && { thread }) });
} catch (error) {
if (hasLost && error.code === "conflict" && this.#items.has(key)) await this.#remove(item);
else if (!await this.#renew(key, error)) await this.#failed(item, refusal(error));
} finally {
this.#busy.delete(conv);
this.run();
}
}

async #renew(key, error) {
const { code, field } = refusal(error);
const item = this.#items.get(key);
if (code !== "not_found" || field !== "blob" || !item?.file || this.#renewed.has(key)) return false;
this.#renewed.add(key);
const body = { ...item.body, blob: undefined, ...(item.poster && { poster: undefined }) };
await this.#set({ ...item, body, address: undefined, status: "queued" });
return true;
}

async #upload(item) {
if (this.#uploads.has(item.key) || this.#uploads.size >= 2 || (this.#pauses.get(item.key) ?? 0) > Date.now()) return;
const controller = new AbortController();
this.#uploads.set(item.key, controller);
let latest = { ...item, status: "uploading", progress: 0 };
try {
this.#show(latest);
if (item.poster && !item.body.poster) {
const { blob } = await upload(item.poster, { name: "poster.jpg", signal: controller.signal });
await this.#set((latest = { ...latest, body: { ...latest.body, poster: blob } }));
}
const blob = await upload(item.file, {
name: item.body.name, address: item.address, signal: controller.signal,
began: (address) => this.#set((latest = { ...latest, address })),
progress: (progress) => this.#show((latest = { ...latest, progress })),
});
if (!this.#items.has(item.key)) return;
await this.#set({ ...latest, ...uploaded(latest, blob), status: "queued", progress: 1 });
} catch (error) {
if (this.#items.has(item.key)) await this.#failed(latest, refusal(error));
} finally {
this.#uploads.delete(item.key);
this.run();
}
}

async #failed(item, error) {
if (!this.#items.has(item.key)) return;
if (error.code === "unauthorized") this.#core.refused();
if (!error.isTemporary && error.code !== "unauthorized") return this.#set({ ...item, status: "failed", error: error.plain });
const attempt = (this.#attempts.get(item.key) ?? 0) + 1;
this.#attempts.set(item.key, attempt);
const delay = error.retryAfter ?? Math.min(30_000, 500 * 2 ** Math.min(attempt, 7)) * (0.5 + Math.random() / 2);
this.#pauses.set(item.file && !item.body.blob ? item.key : item.conv, Date.now() + delay);
setTimeout(() => this.run(), delay + 5);
await this.#set({ ...item, status: "queued" });
}

async #set(item) {
this.#items.set(item.key, item);
this.#core.emit({ type: "outbox", item: shown(item) });
await this.#core.database.put("outbox", item);
}

#show(item) {
this.#items.set(item.key, item);
this.#core.emit({ type: "outbox", item: shown(item) });
}

async #remove(item) {
this.#items.delete(item.key);
if (this.#cited.delete(item.key)) this.#saveCited();
this.#core.emit({ type: "outbox", item: shown(item), removed: true });
await this.#core.database.delete("outbox", item.key);
}
}

const shown = ({ address: _, poster: __, ...item }) => item;

const identity = (event) => (event ? `${event.id ?? event.at} ${event.sender}` : null);
return { Outbox };
})();
const $core_own = (() => {

const { reading } = $core_applying;
const { uuid } = $core_requests;

const MARK_PAUSE = 150;
const DRAFT_PAUSE = 1000;

class OwnValues {
#core;
#marks = new Map();
#drafts = new Map();

constructor(core) { this.#core = core; }

restore(marks, drafts) {
this.#marks = new Map(marks ?? []);
this.#drafts = new Map(drafts ?? []);
}

clear() {
this.#marks.clear();
this.#drafts.clear();
}

requeue(heads) {
this.#marks.clear();
for (const { conv, own } of heads) if (own?.draft && !this.#drafts.has(conv)) this.#drafts.set(conv, { id: uuid(), ...own.draft });
for (const [conv, { ref: _, ...draft }] of this.#drafts) this.#drafts.set(conv, draft);
this.#saveMarks();
this.#saveDrafts();
}

connected() {
for (const conv of this.#marks.keys()) this.#sendMark(conv);
for (const conv of this.#drafts.keys()) this.#sendDraft(conv);
}

applied(head) {
const marked = this.#marks.has(head.conv) ? reading(head, this.#marks.get(head.conv)) : head;
return this.#drafts.has(head.conv) ? drafted(marked, this.#drafts.get(head.conv)) : marked;
}

hasDraft(conv) { return this.#drafts.has(conv); }

mark({ conv, read }) {
const head = this.#core.head(conv);
if (!head || read <= (head.read ?? 0)) return {};
this.#marks.set(conv, read);
this.#core.putHead(conv, (each) => reading(each, Math.min(read, each.n)));
this.#saveMarks();
this.#core.later(`mark ${conv}`, MARK_PAUSE, () => this.#sendMark(conv));
return {};
}

draft({ conv, text, ref }) {
const draft = { id: uuid(), text, ref, at: Date.now() };
this.#drafts.set(conv, draft);
this.#core.putHead(conv, (head) => drafted(head, draft));
this.#saveDrafts();
this.#core.later(`draft ${conv}`, text ? DRAFT_PAUSE : 0, () => this.#sendDraft(conv));
return {};
}

async #sendMark(conv) {
const read = this.#marks.get(conv);
if (!this.#core.isOnline || read === undefined) return;
try {
await this.#core.call("mark", { conv, read });
} catch (error) {
if (error.isTemporary) return;
}
if (this.#marks.get(conv) === read) this.#marks.delete(conv);
this.#saveMarks();
}

async #sendDraft(conv) {
const draft = this.#drafts.get(conv);
if (!this.#core.isOnline || !draft) return;
try {
await this.#core.call("draft", { id: draft.id, conv, text: draft.text, ref: draft.ref });
} catch (error) {
if (error.isTemporary) return;
}
if (this.#drafts.get(conv) === draft) this.#drafts.delete(conv);
this.#saveDrafts();
}

#saveMarks() { return this.#core.database.setMeta("marks", [...this.#marks]); }
#saveDrafts() { return this.#core.database.setMeta("drafts", [...this.#drafts]); }
}

function drafted(head, draft) {
const { draft: _, ...rest } = head.own ?? {};
return { ...head, own: draft?.text ? { ...rest, draft: { text: draft.text, ref: draft.ref, at: draft.at ?? Date.now() } } : rest };
}

function owning(before = {}, { pinned, archived, muted_until: muted, notify, marked_unread: unread, folders }) {
const after = { ...before };
if (pinned !== undefined) after.pinned_at = pinned ? before.pinned_at ?? Date.now() : undefined;
if (archived !== undefined) after.archived = archived;
if (muted !== undefined) after.muted_until = muted;
if (notify !== undefined) after.notify = notify === "all" ? undefined : notify;
if (unread !== undefined) after.marked_unread = unread;
if (folders !== undefined) after.folders = folders;
return after;
}
return { OwnValues, drafted, owning };
})();
const $core_search = (() => {

const { isBlank } = $core_applying;

const PAGE = 30;
const TIME = 300;

async function searchCache(database, { query = "", conv, sender, kinds, from_at: from = 0, until_at: until = Infinity, page }) {
const words = wordsOf(query);
const hits = [];
const end = performance.now() + TIME;
let last;
await database.scan({ conv, after: page }, (event) => {
if (conv === undefined && event.at < from) return false;
const hit = matching(event, words, (each) => (!sender || each.sender === sender) && (!kinds || kinds.includes(each.kind)) && each.at >= from && each.at <= until);
if (hit) hits.push(hit);
if (hits.length < PAGE && performance.now() < end) return true;
last = { conv: event.conv, seq: event.seq, at: event.at };
return false;
});
return { hits, page: last, local: true };
}

function wordsOf(query) {
return [...query.toLocaleLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
}

function matching(event, words, passes) {
if (event.n === undefined || event.kind === "hidden" || !passes(event)) return null;
if (words.length === 0) return isBlank(event) ? null : { event, snippet: "", ranges: [], local: true };
const { text, question, title, name, nick } = event.body ?? {};
const content = [text, question, title, name, nick].find((each) => typeof each === "string");
const plain = content?.toLocaleLowerCase();
return plain !== undefined && words.every((word) => plain.includes(word)) ? { event, ...snippet(content, plain, words), local: true } : null;
}

function snippet(text, plain, words) {
const start = Math.max(0, plain.indexOf(words[0]) - 40);
const part = text.slice(start, start + 160);
const ranges = words.flatMap((word) => {
const index = part.toLocaleLowerCase().indexOf(word);
return index < 0 ? [] : [{ offset: [...part.slice(0, index)].length, length: [...word].length }];
});
return { snippet: part, ranges: ranges.sort((a, b) => a.offset - b.offset) };
}
return { searchCache };
})();
const $core_core = (() => {

const { advancing, expiring, isBlank, movesUp, preview, reading } = $core_applying;
const { Connection } = $core_connection;
const { Database } = $core_database;
const { Expiry } = $core_expiry;
const { Logs } = $core_logs;
const { Outbox } = $core_outbox;
const { OwnValues, drafted, owning } = $core_own;
const { showsReceipts } = $core_receipts;
const { Refusal, deviceDescription, get, post, uuid } = $core_requests;
const { searchCache } = $core_search;
const { upload } = $core_uploads;

const UNCHANGING = new Set(["history", "sync", "members", "readers", "reactions", "scheduled", "conversation.info", "directory", "link.list", "link.info", "settings", "users", "people", "contacts", "devices", "search", "typing", "subscribe", "signal", "call.servers"]);
const PAGES_OF_REQUESTS = 5;
const NAMING = ["events", "heads", "nudges"];

const isUntold = ({ state, at }) => (state === "asked" || state === "asking") && !at;
const NEW = () => ({ phase: "signedOut", user: null, self: null, limits: {}, server: {}, clock: 0 });

class Core {
database = null;
wasOnline = false;
#session = { ...NEW(), phase: "starting" };
#cached = { epoch: undefined, since: undefined };
#heads = new Map();
#users = new Map();
#contacts = [];
#settings = {};
#received = new Map();
#shown = new Map();
#dirty = new Set();
#listed = null;
#doubtful = new Set();
#judged = 0;
#timers = new Map();
#connection = new Connection(this);
#outbox = new Outbox(this);
#own = new OwnValues(this);
#logs = new Logs(this);
#noticed;
#expiry = new Expiry(this);
#listener;
#ready;

constructor(listener = () => {}) {
this.#listener = listener;
this.#ready = this.#start();
}

get user() { return this.#session.user; }
get cached() { return this.#cached; }
get isOnline() { return this.#connection.isReady; }
get connectionState() { return this.#connection.state.state; }
get now() { return Date.now() + this.#session.clock; }
get heads() { return this.#heads.values(); }
head(conv) { return this.#heads.get(conv); }
emit(event) { this.#listener(event); }
call(verb, body) { return this.#connection.call(verb, body); }

async request(name, body = {}, tab = "") {
await this.#ready;
switch (name) {
case "start": return this.#snapshot();
case "login": return this.#enter("/api/login", { ...body, device: deviceDescription() });
case "register": return this.#enter("/api/register", { ...body, device: deviceDescription() });
case "password": return this.#enter("/api/password", { ...body, device: deviceDescription() });
case "recovery": return post("/api/recovery", body);
case "totp": return post("/api/totp", body);
case "totpConfirm": return post("/api/totp/confirm", body);
case "totpDelete": return post("/api/totp/delete", body);
case "deleteAccount": await post("/api/account/delete", body); await this.#leave(); return {};
case "logout": return this.#logout(body);
case "history": return this.#logs.page(body);
case "edits": return this.#logs.edits(body);
case "send": return this.#outbox.add(body);
case "retry": return this.#outbox.retry(body.key);
case "discard": return this.#outbox.discard(body.key);
case "mark": return this.#own.mark(body);
case "draft": return this.#own.draft(body);
case "typing": return this.isOnline ? this.call("typing", { conv: body.conv, stopped: body.stopped || undefined }) : {};
case "show": return this.#show(tab, body.convs);
case "network": this.#connection.network(body.event); return {};
case "upload": return upload(body.file);
case "search": return this.#search(body);
case "verb": return this.#verb(body.verb, body.body ?? {});
default: throw new Refusal({ code: "unsupported", message: name });
}
}


async #start() {
this.database = await Database.open();
const { meta, heads, users, cursors, outbox } = await this.database.stores("meta", "heads", "users", "cursors", "outbox");
const { session, access, epoch, since, contacts, settings, marks, drafts, cited, logout, noticed } = Object.fromEntries(meta.map(({ key, value }) => [key, value]));
this.#session = session?.user ? { ...NEW(), ...session, phase: "signedIn" } : NEW();
if (this.user) {
this.#cached = { epoch, since };
this.#noticed = noticed;
this.#contacts = contacts ?? [];
this.#settings = settings ?? {};
this.#own.restore(marks, drafts);
for (const head of heads) this.#heads.set(head.conv, head);
for (const user of users) this.#users.set(user.name, user);
this.#logs.restore(cursors);
this.#outbox.restore(outbox, cited);
this.#connection.restore(access);
this.#connection.start();
this.#expiry.sweep();
} else {
if (logout) this.#tellLogout();
this.#learnServer();
}
globalThis.addEventListener?.("online", () => this.#outbox.run());
}

#snapshot() {
return {
session: this.#session, connection: this.#connection.state, heads: [...this.#heads.values()], users: [...this.#users.values()], contacts: this.#contacts,
settings: this.#settings, outbox: this.#outbox.shown,
};
}

async #learnServer() {
const server = await get("/api/server").catch(() => null);
if (server) this.#setSession({ server, limits: server.limits ?? {} });
}

async #enter(path, body) {
const answer = await post(path, body);
if ((await this.database.meta("session"))?.user.name !== answer.user.name) await this.#forget();
await this.database.delete("meta", "logout");
this.#setSession({ phase: "signedIn", user: answer.user });
this.emit({ type: "snapshot", ...this.#snapshot() });
if (this.isOnline) this.#connection.stop();
this.#connection.granted(answer);
this.#connection.start();
return { user: answer.user, recovery: answer.recovery };
}

async #logout({ force }) {
if (this.#outbox.unsent > 0 && !force) throw new Refusal({ code: "unsent", message: "Messages are not sent yet.", count: this.#outbox.unsent });
await this.#leave();
await this.database.setMeta("logout", true);
await this.#tellLogout();
return {};
}

async #tellLogout() {
try {
await post("/api/logout", { refresh: "cookie" });
await this.database.delete("meta", "logout");
} catch (error) {
if (error.isTemporary) setTimeout(() => { if (!this.user) this.#tellLogout(); }, 5000);
}
}

async #leave() {
const { server, limits } = this.#session;
this.#connection.stop();
await this.#forget();
this.#session = { ...NEW(), server, limits };
this.emit({ type: "snapshot", ...this.#snapshot() });
}

async #forget() {
this.#outbox.clear();
this.#dropCache();
this.#own.clear();
this.#expiry.clear();
this.#users.clear();
this.#contacts = [];
this.#settings = {};
this.#noticed = undefined;
await this.database.wipe();
}

#dropCache() {
this.#logs.clear();
this.#heads.clear();
this.#received.clear();
this.#dirty.clear();
this.#doubtful.clear();
this.#cached = { epoch: undefined, since: undefined };
this.wasOnline = false;
}

dismissed(reason) {
this.#session = { ...this.#session, phase: "signedOut" };
this.emit({ type: "notice", notice: { kind: "dismissed", reason } });
this.emit({ type: "session", session: this.#session });
}

refused() { this.#connection.renew(); }

#setSession(values) {
this.#session = { ...this.#session, ...values };
if (this.user) this.database.setMeta("session", { user: this.user, self: this.#session.self, limits: this.#session.limits, server: this.#session.server, clock: this.#session.clock });
this.emit({ type: "session", session: this.#session });
}


async welcomed(answer, held) {
this.#judged = 0;
if (this.#cached.epoch !== undefined && this.#cached.epoch !== answer.epoch) {
await this.#outbox.requeue();
this.#own.requeue(this.#heads.values());
this.#dropCache();
await this.database.wipe(["outbox", "meta"]);
this.emit({ type: "snapshot", ...this.#snapshot() });
}
this.#cached.epoch = answer.epoch;
if (this.#noticed === undefined) await this.database.setMeta("noticed", (this.#noticed = answer.at));
await this.database.setMeta("epoch", answer.epoch);
this.#setSession({ user: answer.user, self: answer.self, limits: answer.limits, device: answer.device, features: answer.features ?? [], push_key: answer.push_key, clock: answer.at - Date.now() });
return answer.sync ? this.synced(answer.sync, { since: this.#cached.since }, held) : { since: undefined };
}

async synced({ heads, gone = [], page, token }, { since, page: after }, held) {
if (after === undefined) this.#listed = since === undefined ? new Set() : null;
this.#setHeads(heads, gone, true);
if (page) return { since, page };
const listed = this.#listed;
const named = held.slice(listed ? 0 : this.#judged).flatMap(([, body]) => NAMING.flatMap((key) => body[key] ?? []));
const pushed = new Set(named.map(({ conv }) => conv));
let removed;
if (listed) {
this.#listed = null;
this.#doubtful = new Set([...pushed].filter((conv) => !listed.has(conv)));
removed = [...this.#heads.keys()].filter((conv) => !listed.has(conv) && !pushed.has(conv));
} else {
removed = [...this.#doubtful].filter((conv) => !pushed.has(conv));
this.#doubtful.clear();
for (const [, body] of held) for (const key of NAMING) body[key] = body[key]?.filter(({ conv }) => !removed.includes(conv));
}
if (removed.length > 0) this.#setHeads([], removed);
this.#judged = held.length;
this.#cached.since = token;
await this.#saveHeads();
if (this.#doubtful.size === 0) await this.database.setMeta("since", token);
return (listed && after !== undefined) || this.#doubtful.size > 0 ? { since: token } : null;
}

connected() {
this.wasOnline = true;
this.#subscribe();
this.#logs.connected();
this.#outbox.run();
this.#own.connected();
for (const [conv, n] of this.#received) if (n > (this.#heads.get(conv)?.read ?? 0)) this.#reportReceived(conv);
this.#loadContacts();
this.#loadSettings();
const newest = [...this.#heads.values()].filter((head) => !head.state && head.seq > 0).sort((a, b) => (b.own?.pinned_at ?? 0) - (a.own?.pinned_at ?? 0) || b.at - a.at);
this.#tellMissed();
this.#logs.prefetch([...new Set([this.#session.self, ...newest.slice(0, 15).map((head) => head.conv)])]).then(() => this.#logs.trim());
}

disconnected() {
this.#logs.disconnected();
this.#outbox.disconnected();
}

pushed(name, body) {
switch (name) {
case "event":
return this.#logs.received(body.events.map((event) => (body.silent ? { ...event, silent: true } : event)));
case "head":
this.#setHeads(body.heads ?? [], body.gone ?? []);
for (const nudge of body.nudges ?? []) this.#nudged(nudge);
return;
case "mark":
for (const mark of body.marks) if (mark.user === this.user.name && mark.read !== undefined) this.putHead(mark.conv, (head) => reading(head, mark.read));
return this.emit({ type: "marks", marks: body.marks });
case "presence": return this.emit({ type: "presence", users: body.users });
case "typing": return this.emit({ type: "typing", ...body });
case "user":
for (const user of body.users) this.#users.set(user.name, user);
this.database.put("users", ...body.users);
if (body.users.some((user) => user.name === this.user.name)) this.#setSession({ user: body.users.find((user) => user.name === this.user.name) });
return this.emit({ type: "users", users: body.users });
case "signal": return this.emit({ type: "signal", ...body });
}
}


#setHeads(heads, gone = [], isSync = false) {
const told = [];
for (const conv of gone) {
this.#heads.delete(conv);
this.#dirty.delete(conv);
this.database.delete("heads", conv);
this.#logs.gone(conv);
}
for (const pushed of heads) {
if (isSync) {
this.#listed?.add(pushed.conv);
this.#doubtful.delete(pushed.conv);
}
const before = this.#heads.get(pushed.conv);
if (!before && this.#received.has(pushed.conv)) this.#reportReceived(pushed.conv);
let head = pushed;
const isFormer = head.state === "left" || head.state === "removed";
if (!isFormer && before && before.seq > head.seq) head = { ...head, seq: before.seq, n: before.n, at: before.at, last: before.last, unread: before.unread, mentions: before.mentions };
head = this.#own.applied(head);
this.#heads.set(head.conv, head);
this.#dirty.add(head.conv);
told.push(head);
if (isFormer) this.#logs.ended(head.conv, pushed.seq);
else if (!head.state || head.state === "joined") this.#logs.announced(head.conv, pushed.seq, isSync);
}
if (told.length || gone.length) this.emit({ type: "heads", heads: told, gone });
for (const { conv, last } of told) if (last?.kind === "hidden") this.#previewVisible(conv);
this.#expiry.heads(told);
this.#saveLater();
}

#nudged({ conv, seq, n, at, mentions, last }) {
const head = this.#heads.get(conv);
if (!head || seq <= head.seq) return;
this.putHead(conv, (each) => ({ ...each, seq, n, at, last: last ?? each.last, unread: (each.unread ?? 0) + n - each.n, mentions: mentions ?? each.mentions }));
this.#logs.announced(conv, seq, false);
}

putHead(conv, change) {
const head = this.#heads.get(conv);
if (!head) return;
const after = change(head);
this.#heads.set(conv, after);
this.#dirty.add(conv);
this.emit({ type: "heads", heads: [after] });
this.#expiry.heads([after]);
this.#saveLater();
}

#saveLater() { this.later("heads", 250, () => this.#saveHeads()); }

#saveHeads() {
const heads = [...this.#dirty].map((conv) => this.#heads.get(conv)).filter(Boolean);
this.#dirty.clear();
return this.database.put("heads", ...heads);
}

applied(conv, events) {
const head = this.#heads.get(conv);
if (head) {
const after = advancing(head, events, this.user?.name);
this.#heads.set(conv, after);
this.#dirty.add(conv);
this.#expiry.heads([after]);
this.#saveLater();
} else this.later(`head ${conv}`, 150, () => this.#loadHead(conv));
this.emit({ type: "events", conv, events });
if (conv === this.#session.self) for (const event of events) this.#applyOwn(event);
this.#outbox.applied(conv, this.#logs.cursor(conv));
const last = events.findLast((event) => event.n !== undefined && event.sender !== this.user?.name);
if (last) {
this.#received.set(conv, last.n);
this.#reportReceived(conv);
}
}

#reportReceived(conv) {
this.later(`received ${conv}`, 200, () => {
const head = this.#heads.get(conv);
if (this.isOnline && head && showsReceipts(head)) this.call("mark", { conv, received: this.#received.get(conv) }).catch(() => {});
});
}

stored(events) { this.#expiry.stored(events); }

expired(conv, seqs, edited = []) {
if (edited.length > 0) this.#logs.blankEdits(conv, edited, "expired").catch((error) => console.warn("cache:", error));
this.putHead(conv, (head) => (head.last && seqs.has(head.last.seq) && !isBlank(head.last) ? { ...head, last: expiring({ ...head.last, text: undefined }) } : head));
}

async #loadHead(conv, isKnown = false) {
if (!this.isOnline || this.#heads.has(conv) !== isKnown) return;
const answer = await this.call("conversation.info", { conv }).catch(() => null);
if (answer?.head && this.#heads.has(conv) === isKnown) this.#setHeads([answer.head]);
}

#applyOwn({ kind, at, body = {} }) {
if (kind === "self.hide") return this.#hide(body.conv, body.seqs);
if (kind === "self.set") return this.#loadProfile();
if (kind.startsWith("contact.")) {
if (body.incoming) this.#notify(at, { kind, user: body.user, text: body.text });
return this.#loadContacts();
}
if (kind.startsWith("device.")) return body.device !== this.#session.device && this.#notify(at, { kind, ...body });
const { conv, draft, ...values } = body;
if (!conv) return;
if (kind === "self.draft") { if (!this.#own.hasDraft(conv)) this.putHead(conv, (head) => drafted(head, draft)); }
else this.putHead(conv, (head) => ({ ...head, own: { ...head.own, ...values } }));
}

async #tellMissed() {
const { events } = await this.#logs.page({ conv: this.#session.self, limit: 40 }).catch(() => ({ events: [] }));
for (const event of events) if (/^(device|contact)\./.test(event.kind) && event.at > this.#noticed) this.#applyOwn(event);
}

#notify(at, notice) {
if (this.#noticed === undefined || !(at > this.#noticed)) return;
this.#noticed = at;
this.database.setMeta("noticed", at);
this.emit({ type: "notice", notice });
}

async #hide(conv, seqs) {
const events = await this.database.events(conv, Math.min(...seqs), Math.max(...seqs));
await this.database.put("events", ...events.filter((event) => seqs.includes(event.seq)).map(({ seq, n, asOf }) => ({ conv, seq, n, kind: "hidden", asOf })));
this.emit({ type: "hidden", conv, seqs });
if (seqs.includes(this.#heads.get(conv)?.last?.seq)) await this.#previewVisible(conv);
}

async #previewVisible(conv) {
const { last, kind } = this.#heads.get(conv) ?? {};
const events = await this.database.trailing(conv, Infinity, 100);
const visible = events.findLast((event) => event.seq <= last?.seq && event.kind !== "hidden" && movesUp(event, kind));
this.putHead(conv, (head) => (head.last?.seq === last?.seq ? { ...head, last: visible && preview(visible) } : head));
}

acknowledged(event) {
this.#logs.received([event]);
this.#outbox.applied(event.conv, this.#logs.cursor(event.conv));
}


async #verb(verb, body) {
const { id = uuid(), ...plain } = body;
const answer = await this.call(verb, UNCHANGING.has(verb) ? plain : { id, ...plain });
if (answer.head) this.#setHeads([answer.head]);
if (answer.user && verb === "profile.set") this.#setSession({ user: answer.user });
const seq = answer.seq ?? answer.call;
if (seq && answer.conv) this.#logs.announced(answer.conv, seq, false);
if (verb === "own.set") this.putHead(body.conv, (head) => ({ ...head, own: owning(head.own, body) }));
if (/^contact\.|^(un)?block$/.test(verb)) this.#loadContacts();
if (verb === "settings.set") { this.#settings = { ...this.#settings, ...body.settings }; this.emit({ type: "settings", settings: this.#settings }); }
if (verb === "member.answer") await (body.accept ? this.#loadHead(body.conv, true) : this.#setHeads([], [body.conv]));
if (verb === "member.leave" || verb === "conversation.delete") this.#setHeads([], [body.conv]);
return answer;
}

async #search(body) {
const isLocal = typeof body.page === "object";
if (this.connectionState === "online" && !isLocal) {
try {
return await this.call("search", body);
} catch (error) {
if (error.code !== "unsupported") throw error;
}
}
if (typeof body.page === "string") throw new Refusal({ code: "offline", message: "There is no connection." });
return searchCache(this.database, body);
}

#show(tab, convs) {
if (convs.length) this.#shown.set(tab, convs);
else this.#shown.delete(tab);
this.#subscribe();
return {};
}

#subscribe() {
const convs = [...new Set([...this.#shown.values()].flat())].slice(-20);
if (this.isOnline) this.call("subscribe", { convs }).catch(() => {});
}

async #loadContacts() {
const all = [];
try {
for (let page; ;) {
const answer = await this.call("contacts", { page });
all.push(...answer.contacts);
if (!(page = answer.page)) break;
}
} catch { return; }
if (all.some(isUntold)) await this.#tellRequests(all);
this.#contacts = all;
this.database.setMeta("contacts", all);
this.emit({ type: "contacts", contacts: all });
}

async #tellRequests(contacts) {
for (let before, page = 0; page < PAGES_OF_REQUESTS; page += 1) {
const { events = [] } = await this.call("history", { conv: this.#session.self, limit: 200, before }).catch(() => ({}));
for (const { kind, at, body } of events.toReversed()) {
const contact = kind === "contact.request" && contacts.find((each) => isUntold(each) && each.user.name === body?.user && Boolean(body.incoming) === (each.state === "asked"));
if (contact) Object.assign(contact, { at, ...(body.text && { text: body.text }) });
}
before = events[0]?.seq;
if (!before || before === 1 || !contacts.some(isUntold)) return;
}
}

async #loadProfile() {
const { name } = this.user;
const [user] = (await this.call("users", { names: [name] }).catch(() => ({ users: [] }))).users;
if (user && this.user?.name === name) this.#setSession({ user });
return this.#loadSettings();
}

async #loadSettings() {
const answer = await this.call("settings", {}).catch(() => null);
if (!answer) return;
this.#settings = answer.settings;
this.database.setMeta("settings", answer.settings);
this.emit({ type: "settings", settings: answer.settings });
}

later(key, delay, work) {
clearTimeout(this.#timers.get(key));
this.#timers.set(key, setTimeout(work, delay));
}
}
return { Core };
})();
return $core_core;
};

"""#))

    private static let _js_core_worker_d55552f449ad1b99_js = EmbeddedFile(path: "js/core-worker-d55552f449ad1b99.js", content: .text(#"""
const $core_applying = (() => {

const MESSAGES = new Set(["text", "image", "audio", "video", "file", "location", "card", "call", "poll", "bundle", "encrypted"]);
const REPEATING = new Set(["edit", "preview"]);
const BLANK = new Set(["recalled", "expired", "erased"]);
const CALL_ENDS = new Set(["ended", "missed", "declined", "busy"]);

const isMessage = (event) => MESSAGES.has(event.kind) || (event.n !== undefined && event.kind !== "hidden");
const isBlank = (event) => BLANK.has(event.state);
const repeats = (event) => REPEATING.has(event.kind);

function applying(event, change, user) {
if (change.thread === event.seq && change.n !== undefined) return replied(event, change);
if (isMessage(change) || isBlank(event)) return event;
const isTarget = change.ref === event.seq;
if (!isTarget && !(change.kind === "recall" && repeats(event) && event.ref === change.ref)) return event;
const body = change.body ?? {};
switch (change.kind) {
case "edit":
return { ...event, body: body.body, state: "edited", edited_at: change.at };
case "preview": return event.kind === "text" ? { ...event, body: { ...event.body, preview: body.preview } } : event;
case "recall": return blanking(event, "recalled");
case "react": return reacted(event, body, change.sender === user);
case "vote": {
const after = change.votes ? { ...event, votes: change.votes } : event;
return change.sender === user ? { ...after, mine: { ...event.mine, votes: body.options ?? [] } } : after;
}
case "poll.close": return { ...event, body: { ...event.body, closed: true } };
case "call.update": return { ...event, body: { ...event.body, state: body.state, ...(body.duration !== undefined && { duration: body.duration }) } };
default: return event;
}
}

function blanking({ body: _, reactions: __, votes: ___, expires_at: ____, mine: _____, ...rest }, state) { return { ...rest, state }; }

const expiring = (event) => blanking(event, "expired");

function keeping(event, target) {
return repeats(event) && event.body && target && isBlank(target) ? blanking(event, target.state) : event;
}

function replied(event, { seq }) {
const { count = 0, seq: newest = 0 } = event.replies ?? {};
return seq > newest ? { ...event, replies: { count: count + 1, seq } } : event;
}

function reacted(event, { key, remove }, own) {
const reactions = (event.reactions ?? []).map((each) => (each.key === key ? { key, count: each.count + (remove ? -1 : 1) } : each));
if (!remove && !reactions.some((each) => each.key === key)) reactions.push({ key, count: 1 });
const after = { ...event, reactions: reactions.filter((each) => each.count > 0) };
if (!own) return after;
const before = (event.mine?.reactions ?? []).filter((each) => each !== key);
return { ...after, mine: { ...event.mine, reactions: remove ? before : [...before, key] } };
}

function preview(event) {
const body = event.body ?? {};
const text = body.text ?? body.question ?? body.title ?? body.name ?? body.nick;
return {
seq: event.seq, n: event.n, sender: event.sender, at: event.at, kind: event.kind, state: event.state,
text: typeof text === "string" ? [...text.slice(0, 400)].slice(0, 160).join("") : undefined, users: body.users,
...(event.kind === "call" && { call: body.state, media: body.media, duration: body.duration }),
...(event.kind === "audio" && { voice: body.voice, duration: body.duration }),
};
}

function advancing(head, events, user) {
let after = head;
for (const event of events) {
if (event.seq <= after.seq) continue;
after = { ...after, seq: event.seq };
const isTop = movesUp(event, head.kind);
if (isTop) after.at = Math.max(after.at ?? 0, event.at ?? 0);
if (event.kind === "call" || event.kind === "call.update") after.call = calling(after.call, event);
if (event.kind === "hidden") { if (event.n) after.n = event.n; continue; }
after.last = isTop ? preview(event) : relast(after.last, event);
if (event.kind === "pin") after.pins = pinned(after.pins, event);
if (event.n === undefined) continue;
const previous = after.n;
after.n = event.n;
if (event.sender !== user) {
after.unread = (after.unread ?? 0) + 1;
if (mentions(event, user)) after.mentions = (after.mentions ?? 0) + 1;
} else if ((after.read ?? 0) === previous) after.read = event.n;
}
return after;
}

function calling(call, { kind, seq, ref, body }) {
const isOver = CALL_ENDS.has(body?.state);
if (kind === "call") return isOver ? undefined : seq;
return isOver && ref === call ? undefined : call;
}

const movesUp = ({ n, kind, body }, conversation) => n !== undefined || /^(conversation\.(create|set)|member\.(invite|leave|remove))$/.test(kind)
|| (kind === "member.join" && (conversation !== "channel" || body?.via === "add"));

function relast(last, change) {
if (!last || change.ref !== last.seq || isBlank(last)) return last;
if (change.kind === "edit") return { ...last, state: "edited", text: change.body?.body?.text ?? last.text };
if (change.kind === "recall") return { ...last, state: "recalled", text: undefined };
if (change.kind === "call.update" && last.kind === "call") return { ...last, call: change.body?.state, duration: change.body?.duration };
return last;
}

function pinned(pins = [], event) {
const rest = pins.filter((seq) => seq !== event.ref);
return event.body?.remove ? rest : [event.ref, ...rest];
}

function mentions(event, user) {
return (event.body?.entities ?? []).some((each) => each.type === "all" || (each.type === "mention" && each.user === user));
}

function reading(head, read, unread, mentioned) {
if (read < (head.read ?? 0)) return head;
const left = unread ?? Math.max(0, Math.min(head.unread ?? 0, head.n - read));
const own = head.own?.marked_unread ? { ...head.own, marked_unread: undefined } : head.own;
return { ...head, read, unread: left, mentions: mentioned ?? (left === 0 ? 0 : head.mentions), own };
}
return { isMessage, isBlank, repeats, applying, expiring, keeping, preview, advancing, movesUp, mentions, reading };
})();
const $socketio_backoff = (() => {

class Backoff {
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
return { Backoff };
})();
const $socketio_emitter = (() => {

class Emitter {
#listeners = new Map();

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
return { Emitter };
})();
const $socketio_errors = (() => {
class SocketError extends Error {
constructor(code, message, data) {
super(message);
this.name = "SocketError";
this.code = code;
this.data = data;
}
}
return { SocketError };
})();
const $socketio_enginepackets = (() => {

const PacketType = Object.freeze({
open: "0", close: "1", ping: "2", pong: "3", message: "4", upgrade: "5", noop: "6",
});

const SEPARATOR = "\x1e";
const isType = (digit) => digit >= "0" && digit <= "6" && digit.length === 1;

function encodeText(packet) {
return packet.data instanceof Uint8Array ? "b" + toBase64(packet.data) : packet.type + (packet.data ?? "");
}

function encodeFrame(packet) {
return packet.data instanceof Uint8Array ? packet.data : packet.type + (packet.data ?? "");
}

function decodeFrame(frame) {
if (typeof frame !== "string") return { type: PacketType.message, data: new Uint8Array(frame) };
if (!isType(frame.charAt(0))) throw new Error("a frame that is not an Engine.IO packet");
return { type: frame.charAt(0), data: frame.slice(1) };
}

function encodePayload(packets) {
return packets.map(encodeText).join(SEPARATOR);
}

function decodePayload(body) {
return body.split(SEPARATOR).map((element) =>
element.charAt(0) === "b" ? { type: PacketType.message, data: fromBase64(element.slice(1)) } : decodeFrame(element));
}

function payloadSize(packet) {
if (packet.data instanceof Uint8Array) return 2 + Math.ceil(packet.data.length / 3) * 4;
return 2 + (packet.data ?? "").length * 3;
}

function toBase64(bytes) {
let binary = "";
for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
return btoa(binary);
}

function fromBase64(text) {
const binary = atob(text);
const bytes = new Uint8Array(binary.length);
for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
return bytes;
}
return { PacketType, encodeText, encodeFrame, decodeFrame, encodePayload, decodePayload, payloadSize };
})();
const $socketio_engine = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType, decodeFrame, decodePayload, encodeFrame, encodePayload, encodeText, payloadSize } = $socketio_enginepackets;

const PROBE_TIMEOUT = 10_000;
const MAXIMUM_PACKETS_A_POST = 64;

class Engine extends Emitter {
#url; #transports; #query; #trace; #timeout;
#state = "idle";
#transport;
#handshake = null;
#queue = [];
#socket = null;
#abort = new AbortController();
#poll = null;
#post = null;
#paused = false;
#openTimer = 0;
#heartbeatTimer = 0;
#lastPing = 0;

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

send(data) {
if (this.#state !== "open") return;
this.#enqueue({ type: PacketType.message, data });
}

close() {
if (this.#state === "closed") return;
if (this.#state === "open") {
this.#queue.push({ type: PacketType.close, data: "" });
if (this.#transport === "polling") this.#lastPost().finally(() => this.#abort.abort());
else this.#writeFrames();
}
this.#closed("forced close", null, { abort: this.#transport !== "polling" || this.#state !== "open" });
}

checkHeartbeat() {
if (this.#state !== "open" || !this.#handshake.pingInterval) return;
const silence = performance.now() - this.#lastPing;
if (silence > this.#handshake.pingInterval + this.#handshake.pingTimeout) {
this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time."));
}
}


#received(packet) {
this.#trace?.({ direction: "in", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
switch (packet.type) {
case PacketType.open: return this.#opened(packet.data);
case PacketType.ping:
this.#armHeartbeat();
return this.#enqueue({ type: PacketType.pong, data: packet.data });
case PacketType.message: return this.fire("message", packet.data);
case PacketType.close: return this.#closed("transport close");
default: return;
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
if (!pingInterval) return;
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
if (this.#post) await this.#post;
await fetch(this.#address("polling"), { method: "POST", body, headers: { "Content-Type": "text/plain;charset=UTF-8" }, keepalive: body.length < 60_000 })
.catch(() => {});
}

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
socket.onerror = () => {};
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


#probe() {
const socket = this.#makeSocket();
const trace = (direction, data) => this.#trace?.({ direction, transport: "websocket", data });
const failed = () => {
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

function refusal(status, text) {
try {
const { message } = JSON.parse(text);
if (message) return `${message} (HTTP ${status})`;
} catch { /* not JSON */ }
return `The server answered HTTP ${status}.`;
}
return { Engine };
})();
const $socketio_packets = (() => {

const PacketType = Object.freeze({ connect: 0, disconnect: 1, event: 2, ack: 3, connectError: 4, binaryEvent: 5, binaryAck: 6 });

const MAXIMUM_ATTACHMENTS = 64;
const RESERVED = new Set(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]);

function encodePacket({ type, namespace = "/", data, id }) {
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

class PacketDecoder {
#pending = null;

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
validate(packet);
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
return { PacketType, encodePacket, PacketDecoder };
})();
const $socketio_socket = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType } = $socketio_packets;

class Socket {
#manager; #auth;
#local = new Emitter();
#remote = new Emitter();
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
this.wanted = false;
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

emit(name, ...values) {
if (!this.connected) return false;
this.#manager.send({ type: PacketType.event, namespace: this.namespace, data: [name, ...values] });
return true;
}

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

engineClosed(reason, error) {
if (this.wanted && !this.connected) {
this.#local.fire("connect_error", error ?? new SocketError("transport", reason));
}
this.#ended(reason);
}

giveUp() { this.wanted = false; }

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
if (!waiting) return;
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
return { Socket };
})();
const $socketio_manager = (() => {

const { Backoff } = $socketio_backoff;
const { Emitter } = $socketio_emitter;
const { Engine } = $socketio_engine;
const { PacketDecoder, encodePacket } = $socketio_packets;
const { Socket } = $socketio_socket;

class SocketManager extends Emitter {
#options;
#sockets = new Map();
#engine = null;
#decoder = null;
#backoff;
#retryTimer = 0;
#state = { name: "closed", attempt: 0 };

constructor(url, options = {}) {
super();
this.#options = { path: "/socket.io/", transports: ["polling", "websocket"], timeout: 20_000, reconnection: {}, ...options };
this.url = new URL(this.#options.path, url);
this.#backoff = new Backoff(this.#options.reconnection || {});
globalThis.addEventListener?.("online", () => this.retryNow());
globalThis.addEventListener?.("offline", () => this.drop());
globalThis.document?.addEventListener("visibilitychange", () => {
if (document.visibilityState === "visible") this.resume();
});
}

get state() { return this.#state; }
get timeout() { return this.#options.timeout; }
get transport() { return this.#engine?.isOpen ? this.#engine.transport : null; }
get engineID() { return this.#engine?.id ?? null; }

socket(namespace = "/", options = {}) {
if (!this.#sockets.has(namespace)) this.#sockets.set(namespace, new Socket(this, namespace, options));
return this.#sockets.get(namespace);
}

retryNow() {
if (this.#state.name !== "waiting") return;
clearTimeout(this.#retryTimer);
this.#open();
}

resume() {
this.#engine?.checkHeartbeat();
this.retryNow();
}


join(socket) {
if (this.#engine?.isOpen) socket.engineOpened();
else if (this.#state.name === "closed") this.#open();
else this.retryNow();
}

left() {
if ([...this.#sockets.values()].some((socket) => socket.wanted)) return;
clearTimeout(this.#retryTimer);
this.#backoff.reset();
this.#engine?.close();
this.#engine = null;
this.#change({ name: "closed", attempt: 0 });
}

send(packet) {
for (const frame of encodePacket(packet)) this.#engine?.send(frame);
}

joined() {
this.#backoff.reset();
}

drop() {
this.#engine?.close();
}


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

return { SocketManager };
})();
const $socketio_index = (() => {

const { SocketManager } = $socketio_manager;
const { SocketError } = $socketio_errors;
const { Emitter } = $socketio_emitter;
return { SocketManager, SocketError, Emitter };
})();
const $core_requests = (() => {

const RETRYABLE = new Set(["too_many", "storage", "unavailable", "internal", "offline"]);

class Refusal extends Error {
constructor({ code, message = code, field, retry_after: retryAfter, ...more }) {
super(message);
Object.assign(this, { code, field, retryAfter, ...more });
}

get isTemporary() { return RETRYABLE.has(this.code); }

get plain() { return JSON.parse(JSON.stringify({ ...this, message: this.message })); }
}

function refusal(error) {
if (error instanceof Refusal) return error;
if (error?.data?.code) return new Refusal(error.data);
if (["ack_timeout", "disconnected", "transport", "timeout"].includes(error?.code) || error instanceof TypeError) return new Refusal({ code: "offline", message: "There is no connection." });
return new Refusal({ code: "internal", message: String(error?.message ?? error) });
}

async function post(path, body = {}) {
return answer(await reach(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "Chat-Session": "cookie" } }));
}

const get = async (path) => answer(await reach(path));

async function reach(path, options = {}) {
try {
return await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
} catch (error) {
throw refusal(error);
}
}

async function answer(response) {
const body = await response.json().catch(() => ({}));
if (response.ok) return body;
throw new Refusal(body.error ?? { code: response.status >= 500 ? "unavailable" : response.status === 401 ? "unauthorized" : "internal", message: response.statusText });
}

let newest = 0n;

function uuid() {
const bytes = crypto.getRandomValues(new Uint8Array(16));
const first = (BigInt(Date.now()) << 12n) | BigInt(((bytes[6] & 0x07) << 8) | bytes[7]);
newest = first > newest ? first : newest + 1n;
new DataView(bytes.buffer).setBigUint64(0, ((newest >> 12n) << 16n) | 0x7000n | (newest & 0xfffn));
bytes[8] = (bytes[8] & 0x3f) | 0x80;
const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function deviceDescription() {
const agent = navigator.userAgent;
const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrom/.test(agent) ? "Chrome" : /Safari\//.test(agent) ? "Safari" : "Browser";
const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : /Linux/.test(agent) ? "Linux" : "";
return { name: system ? `${browser} on ${system}` : browser, platform: "web" };
}
return { Refusal, refusal, post, get, reach, answer, uuid, deviceDescription };
})();
const $core_connection = (() => {

const { SocketManager } = $socketio_index;
const { Refusal, deviceDescription, post, refusal } = $core_requests;

const MOST_HELD = 10_000;
const RENEWED = 120_000;
const FINAL = new Set(["signed_out", "account_closed", "protocol_error", "version"]);

class Connection {
#core;
#manager = null;
#socket = null;
#isReady = false;
#held = [];
#state = { state: "offline", since: Date.now() };
#waiting = new Set();
#isWanted = false;
#pause = 0;
#expiresAt = null;
#renewal = 0;
#renewing = null;

constructor(core) { this.#core = core; }

get state() { return this.#state; }
get isReady() { return this.#isReady; }

start() {
if (!this.#manager) {
this.#manager = new SocketManager(globalThis.location.origin, { transports: ["websocket", "polling"], reconnection: { from: 300, to: 15_000 } });
this.#manager.on("state", (state) => this.#managed(state));
this.#socket = this.#manager.socket("/chat");
this.#socket.on("connect", () => this.#hello());
this.#socket.on("disconnect", (reason) => {
this.#lost();
if (reason === "io server disconnect") this.#again();
});
this.#socket.on("connect_error", (error) => this.#refused(error.data));
this.#socket.on("bye", (body) => this.#goodbye(body));
for (const name of ["event", "head", "mark", "presence", "typing", "user", "signal"]) this.#socket.on(name, (body) => this.#pushed(name, body));
}
this.#isWanted = true;
this.#change("connecting");
this.#socket.connect();
}

stop() {
this.#isWanted = false;
clearTimeout(this.#renewal);
this.#socket?.disconnect();
this.#lost();
this.#change("offline");
}

network(event) {
if (event === "offline") this.#manager?.drop();
else this.#manager?.resume();
}

async call(verb, body) {
if (!this.#isReady) {
const { epoch } = this.#core.cached;
await this.#untilReady();
if (epoch !== undefined && epoch !== this.#core.cached.epoch) throw new Refusal({ code: "offline", message: "The data of the server was replaced while the request waited." });
}
const [answer] = await this.#socket.emitWithAck(verb, [clean(body)]).catch((error) => { throw refusal(error); });
if (answer?.error) throw new Refusal(answer.error);
return answer ?? {};
}

granted({ access_expires_at: expiresAt }) {
this.restore(expiresAt);
this.#core.database.setMeta("access", expiresAt);
this.#renewLater();
}

restore(expiresAt = 0) { this.#expiresAt = expiresAt; }

#renewLater() {
clearTimeout(this.#renewal);
if (this.#expiresAt === null) return;
const left = this.#expiresAt - this.#core.now;
this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, Math.max(1000, left - Math.min(RENEWED, left / 2)));
}

renew() {
this.#renewing ??= this.#renew().finally(() => { this.#renewing = null; });
return this.#renewing;
}

async #renew() {
if (!this.#isReady) this.#change("connecting");
try {
this.granted(await post("/api/refresh", { refresh: "cookie" }));
if (this.#isWanted) this.#socket.connect();
} catch (error) {
if (error.code === "unauthorized") { this.stop(); return this.#core.dismissed("signed_out"); }
clearTimeout(this.#renewal);
this.#renewal = setTimeout(() => { if (this.#isWanted) this.renew(); }, 3000);
}
}

async #hello() {
try {
const { epoch, since } = this.#core.cached;
const [answer] = await this.#socket.emitWithAck("hello", [clean({ version: 1, features: [], device: deviceDescription(), epoch, sync: { since } })]);
if (answer.error) throw new Refusal(answer.error);
let sync = await this.#core.welcomed(answer, this.#held);
while (sync) sync = await this.#page(sync);
this.#isReady = true;
this.#change("online");
for (const resolve of this.#waiting) resolve();
this.#waiting.clear();
this.#core.connected();
this.#renewLater();
for (const [name, body] of this.#held.splice(0)) this.#core.pushed(name, body);
} catch (error) {
if (error.code === "unauthorized") await this.renew();
else console.warn("hello:", error);
this.#manager?.drop();
}
}

async #page(request) {
const [answer] = await this.#socket.emitWithAck("sync", [clean(request)]);
if (answer.error?.code === "resync") return { since: undefined };
if (answer.error) throw new Refusal(answer.error);
return this.#core.synced(answer, request, this.#held);
}

#untilReady() {
if (this.#state.state === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
return new Promise((resolve, reject) => {
this.#waiting.add(resolve);
setTimeout(() => { if (this.#waiting.delete(resolve)) reject(new Refusal({ code: "offline", message: "There is no connection." })); }, 5000);
});
}

#refused(refusal) {
if (refusal?.code === "unauthorized") this.renew();
else if (refusal?.code) {
this.#pause = refusal.retry_after ?? 2000;
this.#again();
}
}

#goodbye({ reason, retry_after: pause }) {
this.#pause = pause ?? 0;
if (!FINAL.has(reason)) return;
this.stop();
this.#core.dismissed(reason);
}

#again() {
if (!this.#isWanted) return;
this.#change("connecting");
const delay = this.#pause + 200 + Math.random() * Math.max(800, this.#pause / 2);
this.#pause = 0;
setTimeout(() => { if (this.#isWanted) this.#socket.connect(); }, delay);
}

#pushed(name, body) {
if (this.#isReady) this.#core.pushed(name, body);
else if (this.#held.length < MOST_HELD) this.#held.push([name, body]);
else this.#manager.drop();
}

#lost() {
const wasReady = this.#isReady;
this.#isReady = false;
this.#held = [];
if (wasReady) this.#core.disconnected();
}

#managed({ name, attempt = 0, retryAt }) {
if (name === "open") return;
if (name === "waiting" && this.#isWanted) this.#change(attempt >= 2 || navigator.onLine === false ? "offline" : "connecting", retryAt);
else if (name === "closed" && !this.#isWanted) this.#change("offline");
}

#change(state, retryAt) {
if (this.#state.state === state && this.#state.retryAt === retryAt) return;
this.#state = { state, since: this.#state.state === state ? this.#state.since : Date.now(), retryAt };
this.#core.emit({ type: "connection", connection: this.#state });
}
}

const clean = (body) => JSON.parse(JSON.stringify(body ?? {}));
return { Connection };
})();
const $core_database = (() => {

const NAME = "apus-chat";
const VERSION = 2;
const INDEXES = { at: "at", expires_at: "expires_at" };
const STORES = { meta: "key", heads: "conv", cursors: "conv", users: "name", outbox: "key", events: ["conv", "seq"] };

class Database {
#db = null;

static async open(name = NAME) {
const database = new Database();
try {
database.#db = await new Promise((resolve, reject) => {
const request = indexedDB.open(name, VERSION);
request.onupgradeneeded = () => {
const { result, transaction } = request;
for (const [store, keyPath] of Object.entries(STORES)) if (!result.objectStoreNames.contains(store)) result.createObjectStore(store, { keyPath });
const events = transaction.objectStore("events");
for (const [index, keyPath] of Object.entries(INDEXES)) if (!events.indexNames.contains(index)) events.createIndex(index, keyPath);
};
request.onsuccess = () => resolve(request.result);
request.onerror = () => reject(request.error);
request.onblocked = () => reject(new Error("blocked"));
});
database.#db.onversionchange = () => database.close();
} catch (error) {
console.warn("No cache:", error);
}
return database;
}

close() { this.#db?.close(); this.#db = null; }

async get(store, key) { return this.#run(store, "readonly", (each) => each.get(key)); }
async all(store) { return (await this.#run(store, "readonly", (each) => each.getAll())) ?? []; }

async stores(...names) {
if (!this.#db) return Object.fromEntries(names.map((name) => [name, []]));
return new Promise((resolve, reject) => {
const transaction = this.#db.transaction(names, "readonly");
const requests = names.map((name) => [name, transaction.objectStore(name).getAll()]);
transaction.oncomplete = () => resolve(Object.fromEntries(requests.map(([name, request]) => [name, request.result])));
transaction.onerror = transaction.onabort = () => reject(transaction.error);
});
}

put(store, ...values) { return values.length ? this.#run(store, "readwrite", (each) => { for (const value of values) each.put(value); }) : Promise.resolve(); }
delete(store, ...keys) { return this.#run(store, "readwrite", (each) => { for (const key of keys) each.delete(key); }); }
async meta(key) { return (await this.get("meta", key))?.value; }
setMeta(key, value) { return this.put("meta", { key, value }); }

async events(conv, from, to) {
return (await this.#run("events", "readonly", (each) => each.getAll(IDBKeyRange.bound([conv, from], [conv, to])))) ?? [];
}

async trailing(conv, to, limit) {
if (!this.#db) return [];
return new Promise((resolve) => {
const found = [];
const request = this.#db.transaction("events").objectStore("events").openCursor(IDBKeyRange.bound([conv, 0], [conv, to]), "prev");
request.onerror = () => resolve(found.reverse());
request.onsuccess = () => {
const cursor = request.result;
if (!cursor || found.length === limit || (found.length > 0 && found.at(-1).seq !== cursor.value.seq + 1)) return resolve(found.reverse());
found.push(cursor.value);
cursor.continue();
};
});
}

async count(conv, last = Infinity) {
return (await this.#run("events", "readonly", (each) => each.count(conv === undefined ? undefined : IDBKeyRange.bound([conv, 0], [conv, last])))) ?? 0;
}

forget(conv, below = Infinity) { return this.#run("events", "readwrite", (each) => each.delete(IDBKeyRange.bound([conv, 0], [conv, below]))); }

async scan({ conv, after }, visit) {
if (!this.#db) return;
await new Promise((resolve) => {
const events = this.#db.transaction("events").objectStore("events");
const all = after ? IDBKeyRange.upperBound(after.at) : null;
const request = conv === undefined ? events.index("at").openCursor(all, "prev") : events.openCursor(IDBKeyRange.bound([conv, 0], [conv, after ? after.seq : Infinity], false, Boolean(after)), "prev");
let isPassing = Boolean(after) && conv === undefined;
request.onerror = resolve;
request.onsuccess = () => {
const cursor = request.result;
if (!cursor) return resolve();
if (isPassing) {
const order = indexedDB.cmp([cursor.key, cursor.primaryKey], [after.at, [after.conv, after.seq]]);
if (order > 0) return cursor.continuePrimaryKey(after.at, [after.conv, after.seq]);
isPassing = false;
if (order === 0) return cursor.continue();
}
if (visit(cursor.value) === false) return resolve();
cursor.continue();
};
});
}

async expired(now) {
if (!this.#db) return { events: [], next: undefined };
const events = await this.#run("events", "readonly", (each) => each.index("expires_at").getAll(IDBKeyRange.upperBound(now)));
const next = await this.#run("events", "readonly", (each) => each.index("expires_at").openCursor(IDBKeyRange.lowerBound(now, true)));
return { events: events ?? [], next: next?.key };
}

async wipe(kept = []) {
if (!this.#db) return;
await Promise.all(Object.keys(STORES).filter((store) => !kept.includes(store)).map((store) => this.#run(store, "readwrite", (each) => each.clear())));
}

#run(store, mode, work) {
if (!this.#db) return Promise.resolve(undefined);
return new Promise((resolve, reject) => {
const transaction = this.#db.transaction(store, mode);
const request = work(transaction.objectStore(store));
transaction.oncomplete = () => resolve(request?.result);
transaction.onerror = transaction.onabort = () => reject(transaction.error);
});
}
}
return { Database };
})();
const $core_expiry = (() => {

const { expiring, isBlank } = $core_applying;

const LONGEST = 3_600_000;
const PAUSE = 20;

const endOf = ({ settings, last }) => (settings?.expire > 0 && last?.n !== undefined && !isBlank(last) ? last.at + settings.expire * 1000 : Infinity);

class Expiry {
#core;
#timer = 0;
#at = Infinity;

constructor(core) { this.#core = core; }

clear() {
clearTimeout(this.#timer);
this.#at = Infinity;
}

stored(events) {
const first = events.reduce((least, { expires_at: at }) => Math.min(least, at ?? Infinity), Infinity);
if (first < this.#at) this.#wait(first);
}

heads(heads) {
const first = Math.min(...heads.map(endOf));
if (first < this.#at) this.#wait(first);
}

async sweep() {
this.#at = Infinity;
const { database, now } = this.#core;
const { events, next } = await database.expired(now);
await database.put("events", ...events.map((event) => expiring(event)));
for (const conv of new Set(events.map((event) => event.conv))) {
const ended = events.filter((event) => event.conv === conv);
this.#core.expired(conv, new Set(ended.map(({ seq }) => seq)), ended.filter(({ state }) => state === "edited").map(({ seq }) => seq));
}
for (const head of [...this.#core.heads]) if (endOf(head) <= now) this.#core.expired(head.conv, new Set([head.last.seq]));
this.heads([...this.#core.heads]);
if (next !== undefined && next < this.#at) this.#wait(next);
}

#wait(at) {
this.#at = at;
clearTimeout(this.#timer);
const delay = Math.min(LONGEST, Math.max(0, at - this.#core.now) + PAUSE);
this.#timer = setTimeout(() => this.sweep().catch((error) => console.warn("expiry:", error)), delay);
}
}
return { Expiry };
})();
const $core_cursor = (() => {

const PATIENCE = 500;
const FARTHEST = 400;
const SLOWEST = 30_000;

class LogCursor {
#state = "idle";
#held = new Map();
#fruitless = 0;

constructor({ cursor = 0, isPrimed = false } = {}) {
this.cursor = cursor;
this.head = cursor;
this.isPrimed = isPrimed;
}

get isBehind() { return this.head > this.cursor; }

received(event) {
if (event.seq <= this.cursor) return {};
this.head = Math.max(this.head, event.seq);
this.#held.set(event.seq, event);
if (event.seq === this.cursor + 1) {
const apply = this.#drain();
if (this.#state === "waiting" && !this.isBehind) this.#state = "idle";
return { apply };
}
return this.#waits();
}

announced(head) {
this.head = Math.max(this.head, head);
return this.isBehind ? this.#waits() : {};
}

ended(head) { this.head = Math.max(this.cursor, head); }

resumed() { return this.isBehind && this.#state !== "pulling" ? this.#pull() : {}; }

timerFired() {
if (this.#state !== "waiting") return {};
if (this.isBehind) return this.#pull();
this.#state = "idle";
return {};
}

disconnected() { this.#state = "idle"; }

page(events, head) {
this.head = Math.max(this.head, head);
const before = this.cursor;
const fresh = events.filter((event) => event.seq > before);
let gap;
if (fresh.length > 0 && fresh[0].seq - 1 > before) {
if (this.isPrimed) gap = fresh[0].seq - 1;
this.cursor = fresh[0].seq - 1;
}
for (const event of fresh) this.#held.set(event.seq, event);
const apply = this.#drain();
return { apply, gap, ...this.#after(this.cursor > before) };
}

pullFailed() { return this.#state === "pulling" ? this.#after(false) : {}; }

restart(seq) {
this.cursor = Math.max(this.cursor, seq);
this.head = Math.max(this.head, this.cursor);
return this.#drain();
}

#waits() {
if (this.#state !== "idle") return {};
this.#state = "waiting";
return { wait: PATIENCE };
}

#after(madeProgress) {
this.#state = "idle";
if (!this.isBehind) { this.#fruitless = 0; return {}; }
if (madeProgress) { this.#fruitless = 0; return this.#pull(); }
this.#state = "waiting";
return { wait: Math.min(SLOWEST, 1000 * 2 ** this.#fruitless++) };
}

#pull() {
this.#state = "pulling";
const isNear = this.isPrimed && this.head - this.cursor <= FARTHEST;
return { pull: isNear ? { from: this.cursor + 1, limit: 200 } : { limit: 80 } };
}

#drain() {
const events = [];
for (const seq of this.#held.keys()) if (seq <= this.cursor) this.#held.delete(seq);
while (this.#held.has(this.cursor + 1)) {
this.cursor += 1;
events.push(this.#held.get(this.cursor));
this.#held.delete(this.cursor);
}
if (events.length > 0) this.isPrimed = true;
return events;
}
}
return { LogCursor };
})();
const $core_logs = (() => {

const { applying, isBlank, keeping, repeats } = $core_applying;
const { LogCursor } = $core_cursor;
const { Refusal } = $core_requests;

const PULLS = 3;
const MOST_CACHED = 30_000;
const KEPT = [1000, 200, 40];

class Logs {
#core;
#cursors = new Map();
#timers = new Map();
#queue = [];
#pulling = 0;
#keeping = Promise.resolve();

constructor(core) { this.#core = core; }

get #database() { return this.#core.database; }

restore(cursors) { for (const { conv, cursor, isPrimed } of cursors) this.#cursors.set(conv, new LogCursor({ cursor, isPrimed })); }
cursor(conv) { return this.#cursors.get(conv)?.cursor ?? 0; }

clear() {
for (const timer of this.#timers.values()) clearTimeout(timer);
for (const each of [this.#cursors, this.#timers]) each.clear();
this.#queue = [];
}

gone(conv) {
this.#cursors.delete(conv);
this.#database.forget(conv);
this.#database.delete("cursors", conv);
}

announced(conv, seq, isSync) {
const cursor = this.#cursors.get(conv);
if (!cursor) return this.#cursors.set(conv, new LogCursor({ cursor: seq }));
if (!cursor.isPrimed) {
if (seq > cursor.cursor) this.#core.emit({ type: "gap", conv });
return void cursor.restart(seq);
}
if (isSync) cursor.head = Math.max(cursor.head, seq);
else this.#act(conv, cursor.announced(seq));
}

ended(conv, seq) { this.#cursors.get(conv)?.ended(seq); }

connected() { for (const [conv, cursor] of this.#cursors) this.#act(conv, cursor.resumed()); }

disconnected() {
this.#queue = [];
for (const cursor of this.#cursors.values()) cursor.disconnected();
}

received(events) {
for (const event of events) this.#act(event.conv, this.#of(event.conv, event.seq - 1).received(event));
}

async prefetch(convs) {
for (const conv of convs) {
if (!this.#core.isOnline) return;
if (!(this.#cursors.get(conv)?.isPrimed)) await this.page({ conv, limit: 40 }).catch(() => {});
}
}

async trim(most = MOST_CACHED) {
let count = await this.#database.count();
const logs = [...this.#cursors].sort(([one], [other]) => (this.#core.head(one)?.at ?? 0) - (this.#core.head(other)?.at ?? 0));
for (const kept of KEPT) {
for (const [conv, { cursor }] of logs) {
if (count <= most) return;
const removed = cursor > kept ? await this.#database.count(conv, cursor - kept) : 0;
if (removed > 0) await this.#database.forget(conv, cursor - kept);
count -= removed;
}
}
}

async page({ conv, from, before, around, limit = 50, thread }) {
const head = this.#core.head(conv);
const known = this.#cursors.get(conv);
const low = head?.min_seq ?? 1;
const isOffline = this.#core.connectionState === "offline" || (this.#core.connectionState === "connecting" && !this.#core.wasOnline);
if (thread === undefined && known?.isPrimed) {
const isNewest = from === undefined && before === undefined && around === undefined;
const first = Math.max(low, from ?? (before !== undefined ? before - limit : around !== undefined ? around - (limit >> 1) : known.cursor - limit + 1));
const last = Math.min(known.cursor, isNewest ? known.cursor : before !== undefined ? before - 1 : first + limit - 1);
let events = await this.#database.events(conv, first, last);
const isWhole = events.length > 0 && events.length === last - first + 1;
const isCurrent = isNewest || from !== undefined ? !known.isBehind || isOffline : true;
if (!isWhole && isOffline && from === undefined) events = await this.#database.trailing(conv, around !== undefined ? around : last, limit);
if (isWhole ? isCurrent : isOffline && events.length > 0) {
return { conv, events, seq: Math.max(known.cursor, events.at(-1).seq), min_seq: isWhole ? low : events[0].seq, isPartial: !isWhole };
}
if (isOffline && before !== undefined) return { conv, events: [], seq: known.cursor, min_seq: before, isPartial: true };
}
if (thread !== undefined && known?.isPrimed && isOffline && from === undefined) {
const events = (await this.#database.events(conv, thread, (before ?? Infinity) - 1)).filter((event) => event.thread === thread);
return { conv, events: events.slice(-limit), seq: known.cursor, min_seq: low };
}
if (isOffline && this.#core.connectionState === "offline") throw new Refusal({ code: "offline", message: "There is no connection." });
const page = await this.#core.call("history", { conv, from, before, around, limit, thread });
return thread === undefined ? this.#adopt(conv, page) : { ...page, events: withMine(page) };
}

async edits({ conv, seq }) {
const { events } = await this.#core.call("history", { conv, edits: seq, limit: 200 });
const versions = events.map((event) => ({ at: event.at, body: event.seq === seq ? event.body : event.body?.body }));
return versions.filter(({ body }) => body).reverse();
}

async #adopt(conv, page) {
const events = withMine(page);
const cursor = this.#of(conv, page.seq);
if (events.length === 0 && page.seq <= cursor.cursor && !cursor.isPrimed) {
cursor.isPrimed = true;
this.#saveCursor(conv, cursor);
} else if (events.length > 0) {
const last = events.at(-1).seq;
if (!cursor.isPrimed && last >= cursor.cursor) {
const after = cursor.restart(last);
cursor.isPrimed = true;
await this.#put(events);
this.#saveCursor(conv, cursor);
this.#apply(conv, after);
} else await this.#put(events.filter((event) => event.seq <= cursor.cursor));
if (cursor.isPrimed && last > cursor.cursor && events[0].seq <= cursor.cursor + 1) {
for (const event of events.filter((each) => each.seq > cursor.cursor)) this.#act(conv, cursor.received(event));
}
}
return { ...page, events, mine: undefined };
}

#of(conv, begin) {
if (!this.#cursors.has(conv)) this.#cursors.set(conv, new LogCursor({ cursor: Math.max(0, begin) }));
return this.#cursors.get(conv);
}

#act(conv, { apply, gap, wait, pull }) {
if (gap !== undefined) {
this.#database.forget(conv, gap);
if (apply?.length) this.#put(apply);
this.#core.emit({ type: "gap", conv });
}
if (apply?.length) this.#apply(conv, apply);
if (wait !== undefined) {
clearTimeout(this.#timers.get(conv));
this.#timers.set(conv, setTimeout(() => {
const cursor = this.#cursors.get(conv);
if (cursor && this.#core.isOnline) this.#act(conv, cursor.timerFired());
}, wait));
}
if (pull) {
this.#queue.push([conv, pull]);
this.#pullNext();
}
}

async #pullNext() {
if (this.#pulling >= PULLS || this.#queue.length === 0) return;
const [conv, range] = this.#queue.shift();
const cursor = this.#cursors.get(conv);
if (!cursor) return this.#pullNext();
this.#pulling += 1;
try {
const page = await this.#core.call("history", { conv, ...range });
this.#act(conv, cursor.page(withMine(page), page.seq));
} catch (error) {
if (error.code === "not_found") this.gone(conv);
else this.#act(conv, cursor.pullFailed());
} finally {
this.#pulling -= 1;
this.#pullNext();
}
}

#apply(conv, events) {
if (events.length === 0) return;
const stamped = events.map((event) => ({ ...event, asOf: Math.max(event.asOf ?? 0, event.seq) }));
this.#core.applied(conv, stamped);
const cursor = this.#cursors.get(conv);
this.#keeping = this.#keeping.then(() => this.#keep(conv, stamped, cursor)).catch((error) => console.warn("cache:", error));
}

async #keep(conv, events, cursor) {
if (!cursor || this.#cursors.get(conv) !== cursor) return;
await this.#put(events);
for (const change of events) {
const place = change.n === undefined ? change.ref : change.thread;
if (place === undefined) continue;
const [target] = await this.#database.events(conv, place, place);
if (!target || target.asOf >= change.seq) continue;
const after = applying(target, change, this.#core.user?.name);
if (after !== target) await this.#put([{ ...after, asOf: change.seq }]);
if (change.kind === "recall" || (repeats(change) && isBlank(after))) await this.blankEdits(conv, [change.ref], after.state);
}
if (this.#cursors.get(conv) === cursor) await this.#saveCursor(conv, cursor, events.at(-1).seq);
}

async blankEdits(conv, seqs, state) {
const edits = (await this.#database.events(conv, Math.min(...seqs), Infinity)).filter((event) => repeats(event) && event.body && seqs.includes(event.ref));
await this.#database.put("events", ...edits.map(({ body: _, ...event }) => ({ ...event, state })));
}

async #put(events) {
const kept = await Promise.all(events.map((event) => this.#kept(event, events)));
await this.#database.put("events", ...kept);
this.#core.stored(kept);
}

async #kept(event, others) {
if (!repeats(event) || !event.body) return event;
return keeping(event, others.find(({ seq }) => seq === event.ref) ?? (await this.#database.get("events", [event.conv, event.ref])));
}

#saveCursor(conv, { cursor, isPrimed }, stored = cursor) { return this.#database.put("cursors", { conv, cursor: Math.min(cursor, stored), isPrimed }); }
}

function withMine(page) {
const mine = new Map((page.mine ?? []).map(({ seq, ...each }) => [seq, each]));
return page.events.map((event) => ({ ...event, ...(mine.has(event.seq) && { mine: mine.get(event.seq) }), asOf: page.seq }));
}
return { Logs };
})();
const $core_uploads = (() => {

const { Refusal, answer, reach } = $core_requests;

const PART = 512 * 1024;
const TUS = { "Tus-Resumable": "1.0.0" };

async function upload(file, { name = file.name ?? "", address, began = () => {}, progress = () => {}, signal } = {}) {
let offset = address ? await offsetOf(address, signal) : null;
if (offset === null) {
address = await create(file, name, signal);
await began(address);
offset = 0;
}
let headers;
do {
progress(file.size ? offset / file.size : 1);
const part = await file.slice(offset, offset + PART).arrayBuffer().catch(({ message }) => { throw new Refusal({ code: "not_found", field: "blob", message }); });
const response = await reach(address, { method: "PATCH", body: part, signal, headers: { ...TUS, "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream" } });
if (response.status === 409) { offset = (await offsetOf(address, signal)) ?? 0; continue; }
if (!response.ok) await answer(response);
headers = response.headers;
offset = Number(headers.get("Upload-Offset"));
} while (offset < file.size);
headers = headers?.get("Chat-Blob") ? headers : (await reach(address, { method: "HEAD", headers: TUS, signal })).headers;
if (!headers.get("Chat-Blob")) throw new Refusal({ code: "internal", message: "The server has not reported the blob of the complete upload." });
const size = { width: Number(headers.get("Chat-Width")) || undefined, height: Number(headers.get("Chat-Height")) || undefined };
return { blob: headers.get("Chat-Blob"), type: headers.get("Chat-Type"), size: Number(headers.get("Chat-Size")), ...(size.width && size) };
}

function uploaded({ kind, body }, blob) {
const family = blob.type.split("/")[0];
if (kind === "audio" && family === "video") return { kind, body: { ...body, ...blob, type: `audio/${blob.type.slice(6)}` } };
if (kind === family) return { kind, body: { ...body, ...blob } };
const { name, text, entities } = body;
return { kind: "file", body: { name: name ?? "file", ...(text && { text, entities }), blob: blob.blob, size: blob.size, type: blob.type } };
}

const cancel = (address) => reach(address, { method: "DELETE", headers: TUS }).catch(() => {});

async function create(file, name, signal) {
const metadata = Object.entries({ name, type: file.type || "application/octet-stream" }).filter(([, value]) => value).map(([key, value]) => `${key} ${base64(value)}`).join(",");
const response = await reach("/api/uploads", { method: "POST", signal, headers: { ...TUS, "Upload-Length": String(file.size), "Upload-Metadata": metadata } });
if (!response.ok) await answer(response);
return response.headers.get("Location");
}

async function offsetOf(address, signal) {
const response = await reach(address, { method: "HEAD", headers: TUS, signal });
return response.ok ? Number(response.headers.get("Upload-Offset")) : null;
}

const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
return { upload, uploaded, cancel };
})();
const $core_outbox = (() => {

const { Refusal, refusal, uuid } = $core_requests;
const { cancel, upload, uploaded } = $core_uploads;

class Outbox {
#core;
#items = new Map();
#busy = new Set();
#uploads = new Map();
#pauses = new Map();
#attempts = new Map();
#renewed = new Set();
#cited = new Map();

constructor(core) { this.#core = core; }

get items() { return [...this.#items.values()]; }
get shown() { return this.items.map(shown); }
get unsent() { return this.items.filter((item) => item.status !== "sent").length; }

restore(items, cited = []) {
this.#cited = new Map(cited);
for (const item of items) this.#items.set(item.key, item.status === "failed" ? item : { ...item, status: "queued" });
}

clear() {
for (const controller of this.#uploads.values()) controller.abort();
for (const each of [this.#items, this.#busy, this.#uploads, this.#pauses, this.#attempts, this.#renewed, this.#cited]) each.clear();
}

async add({ key = uuid(), conv, kind, body, ref, thread, silent, file, poster }) {
if (this.#items.has(key)) return key;
const item = { key, conv, kind, body, ref, thread, silent, file, poster, status: "queued", at: Date.now() };
await this.#set(item);
this.run();
return key;
}

async retry(key) {
const item = this.#items.get(key);
if (!item) return;
this.#pauses.delete(item.conv);
this.#attempts.delete(key);
this.#renewed.delete(key);
await this.#set({ ...item, status: "queued", error: undefined });
this.run();
}

async discard(key) {
const item = this.#items.get(key);
if (!item) return;
this.#uploads.get(key)?.abort();
if (item.address) cancel(item.address);
await this.#remove(item);
}

async requeue() {
for (const { seq: _, ...item } of this.#items.values()) {
const { key, conv } = item;
const refs = [item.ref, item.thread].filter((seq) => seq !== undefined);
if (refs.length > 0 && !this.#cited.has(key)) {
this.#cited.set(key, await Promise.all(refs.map(async (seq) => [seq, identity((await this.#core.database.events(conv, seq, seq))[0])])));
}
if (item.status === "sent") this.#items.set(key, { ...item, status: "queued" });
}
await this.#saveCited();
}

#saveCited() { return this.#core.database.setMeta("cited", [...this.#cited]); }

async #verify({ key, conv }) {
const lost = [];
for (const [seq, known] of this.#cited.get(key)) {
const found = known && (await this.#core.call("history", { conv, from: seq, limit: 1 })).events[0];
if (!known || found?.seq !== seq || identity(found) !== known) lost.push(seq);
}
const item = this.#items.get(key);
if (!item) return false;
if (lost.includes(item.thread)) throw new Refusal({ code: "not_found", message: "The server does not have the message that began this thread.", field: "thread" });
await this.#set({ ...item, ref: lost.includes(item.ref) ? undefined : item.ref });
this.#cited.delete(key);
await this.#saveCited();
return lost.length > 0;
}

applied(conv, cursor) {
for (const item of this.#items.values()) if (item.conv === conv && item.seq <= cursor) this.#remove(item);
}

disconnected() { this.#pauses.clear(); }

run() {
if (!this.#core.isOnline) return;
const taken = new Set(this.#busy);
const uploading = new Set();
for (const item of this.#items.values()) {
if (item.status === "failed" || item.status === "sent") continue;
if (item.file && !item.body.blob) { uploading.add(item.conv); this.#upload(item); continue; }
if (taken.has(item.conv) || (item.file && uploading.has(item.conv))) continue;
taken.add(item.conv);
if ((this.#pauses.get(item.conv) ?? 0) <= Date.now()) this.#send(item);
}
}

async #send(item) {
this.#busy.add(item.conv);
const { key, conv } = item;
let hasLost = false;
try {
this.#show({ ...item, status: "sending" });
if (this.#cited.has(key)) hasLost = await this.#verify(item);
const { kind, body, ref, thread, silent } = (item = this.#items.get(key) ?? item);
const ack = await this.#core.call("send", { id: key, conv, kind, body, ref, thread, silent });
if (!this.#items.has(key)) return;
this.#show({ ...this.#items.get(key), status: "sent", seq: ack.seq });
this.#core.acknowledged({ conv, seq: ack.seq, n: ack.n, sender: this.#core.user?.name, id: key, at: ack.at, kind, body, ...(ref !== undefined && { ref }), ...(thread !== undefined && { thread }) });
} catch (error) {
if (hasLost && error.code === "conflict" && this.#items.has(key)) await this.#remove(item);
else if (!await this.#renew(key, error)) await this.#failed(item, refusal(error));
} finally {
this.#busy.delete(conv);
this.run();
}
}

async #renew(key, error) {
const { code, field } = refusal(error);
const item = this.#items.get(key);
if (code !== "not_found" || field !== "blob" || !item?.file || this.#renewed.has(key)) return false;
this.#renewed.add(key);
const body = { ...item.body, blob: undefined, ...(item.poster && { poster: undefined }) };
await this.#set({ ...item, body, address: undefined, status: "queued" });
return true;
}

async #upload(item) {
if (this.#uploads.has(item.key) || this.#uploads.size >= 2 || (this.#pauses.get(item.key) ?? 0) > Date.now()) return;
const controller = new AbortController();
this.#uploads.set(item.key, controller);
let latest = { ...item, status: "uploading", progress: 0 };
try {
this.#show(latest);
if (item.poster && !item.body.poster) {
const { blob } = await upload(item.poster, { name: "poster.jpg", signal: controller.signal });
await this.#set((latest = { ...latest, body: { ...latest.body, poster: blob } }));
}
const blob = await upload(item.file, {
name: item.body.name, address: item.address, signal: controller.signal,
began: (address) => this.#set((latest = { ...latest, address })),
progress: (progress) => this.#show((latest = { ...latest, progress })),
});
if (!this.#items.has(item.key)) return;
await this.#set({ ...latest, ...uploaded(latest, blob), status: "queued", progress: 1 });
} catch (error) {
if (this.#items.has(item.key)) await this.#failed(latest, refusal(error));
} finally {
this.#uploads.delete(item.key);
this.run();
}
}

async #failed(item, error) {
if (!this.#items.has(item.key)) return;
if (error.code === "unauthorized") this.#core.refused();
if (!error.isTemporary && error.code !== "unauthorized") return this.#set({ ...item, status: "failed", error: error.plain });
const attempt = (this.#attempts.get(item.key) ?? 0) + 1;
this.#attempts.set(item.key, attempt);
const delay = error.retryAfter ?? Math.min(30_000, 500 * 2 ** Math.min(attempt, 7)) * (0.5 + Math.random() / 2);
this.#pauses.set(item.file && !item.body.blob ? item.key : item.conv, Date.now() + delay);
setTimeout(() => this.run(), delay + 5);
await this.#set({ ...item, status: "queued" });
}

async #set(item) {
this.#items.set(item.key, item);
this.#core.emit({ type: "outbox", item: shown(item) });
await this.#core.database.put("outbox", item);
}

#show(item) {
this.#items.set(item.key, item);
this.#core.emit({ type: "outbox", item: shown(item) });
}

async #remove(item) {
this.#items.delete(item.key);
if (this.#cited.delete(item.key)) this.#saveCited();
this.#core.emit({ type: "outbox", item: shown(item), removed: true });
await this.#core.database.delete("outbox", item.key);
}
}

const shown = ({ address: _, poster: __, ...item }) => item;

const identity = (event) => (event ? `${event.id ?? event.at} ${event.sender}` : null);
return { Outbox };
})();
const $core_own = (() => {

const { reading } = $core_applying;
const { uuid } = $core_requests;

const MARK_PAUSE = 150;
const DRAFT_PAUSE = 1000;

class OwnValues {
#core;
#marks = new Map();
#drafts = new Map();

constructor(core) { this.#core = core; }

restore(marks, drafts) {
this.#marks = new Map(marks ?? []);
this.#drafts = new Map(drafts ?? []);
}

clear() {
this.#marks.clear();
this.#drafts.clear();
}

requeue(heads) {
this.#marks.clear();
for (const { conv, own } of heads) if (own?.draft && !this.#drafts.has(conv)) this.#drafts.set(conv, { id: uuid(), ...own.draft });
for (const [conv, { ref: _, ...draft }] of this.#drafts) this.#drafts.set(conv, draft);
this.#saveMarks();
this.#saveDrafts();
}

connected() {
for (const conv of this.#marks.keys()) this.#sendMark(conv);
for (const conv of this.#drafts.keys()) this.#sendDraft(conv);
}

applied(head) {
const marked = this.#marks.has(head.conv) ? reading(head, this.#marks.get(head.conv)) : head;
return this.#drafts.has(head.conv) ? drafted(marked, this.#drafts.get(head.conv)) : marked;
}

hasDraft(conv) { return this.#drafts.has(conv); }

mark({ conv, read }) {
const head = this.#core.head(conv);
if (!head || read <= (head.read ?? 0)) return {};
this.#marks.set(conv, read);
this.#core.putHead(conv, (each) => reading(each, Math.min(read, each.n)));
this.#saveMarks();
this.#core.later(`mark ${conv}`, MARK_PAUSE, () => this.#sendMark(conv));
return {};
}

draft({ conv, text, ref }) {
const draft = { id: uuid(), text, ref, at: Date.now() };
this.#drafts.set(conv, draft);
this.#core.putHead(conv, (head) => drafted(head, draft));
this.#saveDrafts();
this.#core.later(`draft ${conv}`, text ? DRAFT_PAUSE : 0, () => this.#sendDraft(conv));
return {};
}

async #sendMark(conv) {
const read = this.#marks.get(conv);
if (!this.#core.isOnline || read === undefined) return;
try {
await this.#core.call("mark", { conv, read });
} catch (error) {
if (error.isTemporary) return;
}
if (this.#marks.get(conv) === read) this.#marks.delete(conv);
this.#saveMarks();
}

async #sendDraft(conv) {
const draft = this.#drafts.get(conv);
if (!this.#core.isOnline || !draft) return;
try {
await this.#core.call("draft", { id: draft.id, conv, text: draft.text, ref: draft.ref });
} catch (error) {
if (error.isTemporary) return;
}
if (this.#drafts.get(conv) === draft) this.#drafts.delete(conv);
this.#saveDrafts();
}

#saveMarks() { return this.#core.database.setMeta("marks", [...this.#marks]); }
#saveDrafts() { return this.#core.database.setMeta("drafts", [...this.#drafts]); }
}

function drafted(head, draft) {
const { draft: _, ...rest } = head.own ?? {};
return { ...head, own: draft?.text ? { ...rest, draft: { text: draft.text, ref: draft.ref, at: draft.at ?? Date.now() } } : rest };
}

function owning(before = {}, { pinned, archived, muted_until: muted, notify, marked_unread: unread, folders }) {
const after = { ...before };
if (pinned !== undefined) after.pinned_at = pinned ? before.pinned_at ?? Date.now() : undefined;
if (archived !== undefined) after.archived = archived;
if (muted !== undefined) after.muted_until = muted;
if (notify !== undefined) after.notify = notify === "all" ? undefined : notify;
if (unread !== undefined) after.marked_unread = unread;
if (folders !== undefined) after.folders = folders;
return after;
}
return { OwnValues, drafted, owning };
})();
const $core_receipts = (() => {

const MOST = 100;

function showsReceipts({ kind, members = 0, settings, state }) {
if (state && state !== "joined") return false;
return kind === "pair" || (kind === "group" && members <= MOST && settings?.receipts !== false);
}

class Positions {
#all = new Map();

mark(user, { read = 0, received = 0 }) {
const before = this.#all.get(user);
const after = { read: Math.max(before?.read ?? 0, read), received: Math.max(before?.received ?? 0, received, read) };
if (before && after.read <= before.read && after.received <= before.received) return false;
this.#all.set(user, after);
return true;
}

keep(users) {
for (const user of this.#all.keys()) if (!users.has(user)) this.#all.delete(user);
}

status(n, others) {
const all = [...this.#all.values()];
if (others === 0 || all.length < others) return "sent";
return all.every(({ read }) => read >= n) ? "read" : all.every(({ received }) => received >= n) ? "delivered" : "sent";
}
}
return { showsReceipts, Positions };
})();
const $core_search = (() => {

const { isBlank } = $core_applying;

const PAGE = 30;
const TIME = 300;

async function searchCache(database, { query = "", conv, sender, kinds, from_at: from = 0, until_at: until = Infinity, page }) {
const words = wordsOf(query);
const hits = [];
const end = performance.now() + TIME;
let last;
await database.scan({ conv, after: page }, (event) => {
if (conv === undefined && event.at < from) return false;
const hit = matching(event, words, (each) => (!sender || each.sender === sender) && (!kinds || kinds.includes(each.kind)) && each.at >= from && each.at <= until);
if (hit) hits.push(hit);
if (hits.length < PAGE && performance.now() < end) return true;
last = { conv: event.conv, seq: event.seq, at: event.at };
return false;
});
return { hits, page: last, local: true };
}

function wordsOf(query) {
return [...query.toLocaleLowerCase().matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
}

function matching(event, words, passes) {
if (event.n === undefined || event.kind === "hidden" || !passes(event)) return null;
if (words.length === 0) return isBlank(event) ? null : { event, snippet: "", ranges: [], local: true };
const { text, question, title, name, nick } = event.body ?? {};
const content = [text, question, title, name, nick].find((each) => typeof each === "string");
const plain = content?.toLocaleLowerCase();
return plain !== undefined && words.every((word) => plain.includes(word)) ? { event, ...snippet(content, plain, words), local: true } : null;
}

function snippet(text, plain, words) {
const start = Math.max(0, plain.indexOf(words[0]) - 40);
const part = text.slice(start, start + 160);
const ranges = words.flatMap((word) => {
const index = part.toLocaleLowerCase().indexOf(word);
return index < 0 ? [] : [{ offset: [...part.slice(0, index)].length, length: [...word].length }];
});
return { snippet: part, ranges: ranges.sort((a, b) => a.offset - b.offset) };
}
return { searchCache };
})();
const $core_core = (() => {

const { advancing, expiring, isBlank, movesUp, preview, reading } = $core_applying;
const { Connection } = $core_connection;
const { Database } = $core_database;
const { Expiry } = $core_expiry;
const { Logs } = $core_logs;
const { Outbox } = $core_outbox;
const { OwnValues, drafted, owning } = $core_own;
const { showsReceipts } = $core_receipts;
const { Refusal, deviceDescription, get, post, uuid } = $core_requests;
const { searchCache } = $core_search;
const { upload } = $core_uploads;

const UNCHANGING = new Set(["history", "sync", "members", "readers", "reactions", "scheduled", "conversation.info", "directory", "link.list", "link.info", "settings", "users", "people", "contacts", "devices", "search", "typing", "subscribe", "signal", "call.servers"]);
const PAGES_OF_REQUESTS = 5;
const NAMING = ["events", "heads", "nudges"];

const isUntold = ({ state, at }) => (state === "asked" || state === "asking") && !at;
const NEW = () => ({ phase: "signedOut", user: null, self: null, limits: {}, server: {}, clock: 0 });

class Core {
database = null;
wasOnline = false;
#session = { ...NEW(), phase: "starting" };
#cached = { epoch: undefined, since: undefined };
#heads = new Map();
#users = new Map();
#contacts = [];
#settings = {};
#received = new Map();
#shown = new Map();
#dirty = new Set();
#listed = null;
#doubtful = new Set();
#judged = 0;
#timers = new Map();
#connection = new Connection(this);
#outbox = new Outbox(this);
#own = new OwnValues(this);
#logs = new Logs(this);
#noticed;
#expiry = new Expiry(this);
#listener;
#ready;

constructor(listener = () => {}) {
this.#listener = listener;
this.#ready = this.#start();
}

get user() { return this.#session.user; }
get cached() { return this.#cached; }
get isOnline() { return this.#connection.isReady; }
get connectionState() { return this.#connection.state.state; }
get now() { return Date.now() + this.#session.clock; }
get heads() { return this.#heads.values(); }
head(conv) { return this.#heads.get(conv); }
emit(event) { this.#listener(event); }
call(verb, body) { return this.#connection.call(verb, body); }

async request(name, body = {}, tab = "") {
await this.#ready;
switch (name) {
case "start": return this.#snapshot();
case "login": return this.#enter("/api/login", { ...body, device: deviceDescription() });
case "register": return this.#enter("/api/register", { ...body, device: deviceDescription() });
case "password": return this.#enter("/api/password", { ...body, device: deviceDescription() });
case "recovery": return post("/api/recovery", body);
case "totp": return post("/api/totp", body);
case "totpConfirm": return post("/api/totp/confirm", body);
case "totpDelete": return post("/api/totp/delete", body);
case "deleteAccount": await post("/api/account/delete", body); await this.#leave(); return {};
case "logout": return this.#logout(body);
case "history": return this.#logs.page(body);
case "edits": return this.#logs.edits(body);
case "send": return this.#outbox.add(body);
case "retry": return this.#outbox.retry(body.key);
case "discard": return this.#outbox.discard(body.key);
case "mark": return this.#own.mark(body);
case "draft": return this.#own.draft(body);
case "typing": return this.isOnline ? this.call("typing", { conv: body.conv, stopped: body.stopped || undefined }) : {};
case "show": return this.#show(tab, body.convs);
case "network": this.#connection.network(body.event); return {};
case "upload": return upload(body.file);
case "search": return this.#search(body);
case "verb": return this.#verb(body.verb, body.body ?? {});
default: throw new Refusal({ code: "unsupported", message: name });
}
}


async #start() {
this.database = await Database.open();
const { meta, heads, users, cursors, outbox } = await this.database.stores("meta", "heads", "users", "cursors", "outbox");
const { session, access, epoch, since, contacts, settings, marks, drafts, cited, logout, noticed } = Object.fromEntries(meta.map(({ key, value }) => [key, value]));
this.#session = session?.user ? { ...NEW(), ...session, phase: "signedIn" } : NEW();
if (this.user) {
this.#cached = { epoch, since };
this.#noticed = noticed;
this.#contacts = contacts ?? [];
this.#settings = settings ?? {};
this.#own.restore(marks, drafts);
for (const head of heads) this.#heads.set(head.conv, head);
for (const user of users) this.#users.set(user.name, user);
this.#logs.restore(cursors);
this.#outbox.restore(outbox, cited);
this.#connection.restore(access);
this.#connection.start();
this.#expiry.sweep();
} else {
if (logout) this.#tellLogout();
this.#learnServer();
}
globalThis.addEventListener?.("online", () => this.#outbox.run());
}

#snapshot() {
return {
session: this.#session, connection: this.#connection.state, heads: [...this.#heads.values()], users: [...this.#users.values()], contacts: this.#contacts,
settings: this.#settings, outbox: this.#outbox.shown,
};
}

async #learnServer() {
const server = await get("/api/server").catch(() => null);
if (server) this.#setSession({ server, limits: server.limits ?? {} });
}

async #enter(path, body) {
const answer = await post(path, body);
if ((await this.database.meta("session"))?.user.name !== answer.user.name) await this.#forget();
await this.database.delete("meta", "logout");
this.#setSession({ phase: "signedIn", user: answer.user });
this.emit({ type: "snapshot", ...this.#snapshot() });
if (this.isOnline) this.#connection.stop();
this.#connection.granted(answer);
this.#connection.start();
return { user: answer.user, recovery: answer.recovery };
}

async #logout({ force }) {
if (this.#outbox.unsent > 0 && !force) throw new Refusal({ code: "unsent", message: "Messages are not sent yet.", count: this.#outbox.unsent });
await this.#leave();
await this.database.setMeta("logout", true);
await this.#tellLogout();
return {};
}

async #tellLogout() {
try {
await post("/api/logout", { refresh: "cookie" });
await this.database.delete("meta", "logout");
} catch (error) {
if (error.isTemporary) setTimeout(() => { if (!this.user) this.#tellLogout(); }, 5000);
}
}

async #leave() {
const { server, limits } = this.#session;
this.#connection.stop();
await this.#forget();
this.#session = { ...NEW(), server, limits };
this.emit({ type: "snapshot", ...this.#snapshot() });
}

async #forget() {
this.#outbox.clear();
this.#dropCache();
this.#own.clear();
this.#expiry.clear();
this.#users.clear();
this.#contacts = [];
this.#settings = {};
this.#noticed = undefined;
await this.database.wipe();
}

#dropCache() {
this.#logs.clear();
this.#heads.clear();
this.#received.clear();
this.#dirty.clear();
this.#doubtful.clear();
this.#cached = { epoch: undefined, since: undefined };
this.wasOnline = false;
}

dismissed(reason) {
this.#session = { ...this.#session, phase: "signedOut" };
this.emit({ type: "notice", notice: { kind: "dismissed", reason } });
this.emit({ type: "session", session: this.#session });
}

refused() { this.#connection.renew(); }

#setSession(values) {
this.#session = { ...this.#session, ...values };
if (this.user) this.database.setMeta("session", { user: this.user, self: this.#session.self, limits: this.#session.limits, server: this.#session.server, clock: this.#session.clock });
this.emit({ type: "session", session: this.#session });
}


async welcomed(answer, held) {
this.#judged = 0;
if (this.#cached.epoch !== undefined && this.#cached.epoch !== answer.epoch) {
await this.#outbox.requeue();
this.#own.requeue(this.#heads.values());
this.#dropCache();
await this.database.wipe(["outbox", "meta"]);
this.emit({ type: "snapshot", ...this.#snapshot() });
}
this.#cached.epoch = answer.epoch;
if (this.#noticed === undefined) await this.database.setMeta("noticed", (this.#noticed = answer.at));
await this.database.setMeta("epoch", answer.epoch);
this.#setSession({ user: answer.user, self: answer.self, limits: answer.limits, device: answer.device, features: answer.features ?? [], push_key: answer.push_key, clock: answer.at - Date.now() });
return answer.sync ? this.synced(answer.sync, { since: this.#cached.since }, held) : { since: undefined };
}

async synced({ heads, gone = [], page, token }, { since, page: after }, held) {
if (after === undefined) this.#listed = since === undefined ? new Set() : null;
this.#setHeads(heads, gone, true);
if (page) return { since, page };
const listed = this.#listed;
const named = held.slice(listed ? 0 : this.#judged).flatMap(([, body]) => NAMING.flatMap((key) => body[key] ?? []));
const pushed = new Set(named.map(({ conv }) => conv));
let removed;
if (listed) {
this.#listed = null;
this.#doubtful = new Set([...pushed].filter((conv) => !listed.has(conv)));
removed = [...this.#heads.keys()].filter((conv) => !listed.has(conv) && !pushed.has(conv));
} else {
removed = [...this.#doubtful].filter((conv) => !pushed.has(conv));
this.#doubtful.clear();
for (const [, body] of held) for (const key of NAMING) body[key] = body[key]?.filter(({ conv }) => !removed.includes(conv));
}
if (removed.length > 0) this.#setHeads([], removed);
this.#judged = held.length;
this.#cached.since = token;
await this.#saveHeads();
if (this.#doubtful.size === 0) await this.database.setMeta("since", token);
return (listed && after !== undefined) || this.#doubtful.size > 0 ? { since: token } : null;
}

connected() {
this.wasOnline = true;
this.#subscribe();
this.#logs.connected();
this.#outbox.run();
this.#own.connected();
for (const [conv, n] of this.#received) if (n > (this.#heads.get(conv)?.read ?? 0)) this.#reportReceived(conv);
this.#loadContacts();
this.#loadSettings();
const newest = [...this.#heads.values()].filter((head) => !head.state && head.seq > 0).sort((a, b) => (b.own?.pinned_at ?? 0) - (a.own?.pinned_at ?? 0) || b.at - a.at);
this.#tellMissed();
this.#logs.prefetch([...new Set([this.#session.self, ...newest.slice(0, 15).map((head) => head.conv)])]).then(() => this.#logs.trim());
}

disconnected() {
this.#logs.disconnected();
this.#outbox.disconnected();
}

pushed(name, body) {
switch (name) {
case "event":
return this.#logs.received(body.events.map((event) => (body.silent ? { ...event, silent: true } : event)));
case "head":
this.#setHeads(body.heads ?? [], body.gone ?? []);
for (const nudge of body.nudges ?? []) this.#nudged(nudge);
return;
case "mark":
for (const mark of body.marks) if (mark.user === this.user.name && mark.read !== undefined) this.putHead(mark.conv, (head) => reading(head, mark.read));
return this.emit({ type: "marks", marks: body.marks });
case "presence": return this.emit({ type: "presence", users: body.users });
case "typing": return this.emit({ type: "typing", ...body });
case "user":
for (const user of body.users) this.#users.set(user.name, user);
this.database.put("users", ...body.users);
if (body.users.some((user) => user.name === this.user.name)) this.#setSession({ user: body.users.find((user) => user.name === this.user.name) });
return this.emit({ type: "users", users: body.users });
case "signal": return this.emit({ type: "signal", ...body });
}
}


#setHeads(heads, gone = [], isSync = false) {
const told = [];
for (const conv of gone) {
this.#heads.delete(conv);
this.#dirty.delete(conv);
this.database.delete("heads", conv);
this.#logs.gone(conv);
}
for (const pushed of heads) {
if (isSync) {
this.#listed?.add(pushed.conv);
this.#doubtful.delete(pushed.conv);
}
const before = this.#heads.get(pushed.conv);
if (!before && this.#received.has(pushed.conv)) this.#reportReceived(pushed.conv);
let head = pushed;
const isFormer = head.state === "left" || head.state === "removed";
if (!isFormer && before && before.seq > head.seq) head = { ...head, seq: before.seq, n: before.n, at: before.at, last: before.last, unread: before.unread, mentions: before.mentions };
head = this.#own.applied(head);
this.#heads.set(head.conv, head);
this.#dirty.add(head.conv);
told.push(head);
if (isFormer) this.#logs.ended(head.conv, pushed.seq);
else if (!head.state || head.state === "joined") this.#logs.announced(head.conv, pushed.seq, isSync);
}
if (told.length || gone.length) this.emit({ type: "heads", heads: told, gone });
for (const { conv, last } of told) if (last?.kind === "hidden") this.#previewVisible(conv);
this.#expiry.heads(told);
this.#saveLater();
}

#nudged({ conv, seq, n, at, mentions, last }) {
const head = this.#heads.get(conv);
if (!head || seq <= head.seq) return;
this.putHead(conv, (each) => ({ ...each, seq, n, at, last: last ?? each.last, unread: (each.unread ?? 0) + n - each.n, mentions: mentions ?? each.mentions }));
this.#logs.announced(conv, seq, false);
}

putHead(conv, change) {
const head = this.#heads.get(conv);
if (!head) return;
const after = change(head);
this.#heads.set(conv, after);
this.#dirty.add(conv);
this.emit({ type: "heads", heads: [after] });
this.#expiry.heads([after]);
this.#saveLater();
}

#saveLater() { this.later("heads", 250, () => this.#saveHeads()); }

#saveHeads() {
const heads = [...this.#dirty].map((conv) => this.#heads.get(conv)).filter(Boolean);
this.#dirty.clear();
return this.database.put("heads", ...heads);
}

applied(conv, events) {
const head = this.#heads.get(conv);
if (head) {
const after = advancing(head, events, this.user?.name);
this.#heads.set(conv, after);
this.#dirty.add(conv);
this.#expiry.heads([after]);
this.#saveLater();
} else this.later(`head ${conv}`, 150, () => this.#loadHead(conv));
this.emit({ type: "events", conv, events });
if (conv === this.#session.self) for (const event of events) this.#applyOwn(event);
this.#outbox.applied(conv, this.#logs.cursor(conv));
const last = events.findLast((event) => event.n !== undefined && event.sender !== this.user?.name);
if (last) {
this.#received.set(conv, last.n);
this.#reportReceived(conv);
}
}

#reportReceived(conv) {
this.later(`received ${conv}`, 200, () => {
const head = this.#heads.get(conv);
if (this.isOnline && head && showsReceipts(head)) this.call("mark", { conv, received: this.#received.get(conv) }).catch(() => {});
});
}

stored(events) { this.#expiry.stored(events); }

expired(conv, seqs, edited = []) {
if (edited.length > 0) this.#logs.blankEdits(conv, edited, "expired").catch((error) => console.warn("cache:", error));
this.putHead(conv, (head) => (head.last && seqs.has(head.last.seq) && !isBlank(head.last) ? { ...head, last: expiring({ ...head.last, text: undefined }) } : head));
}

async #loadHead(conv, isKnown = false) {
if (!this.isOnline || this.#heads.has(conv) !== isKnown) return;
const answer = await this.call("conversation.info", { conv }).catch(() => null);
if (answer?.head && this.#heads.has(conv) === isKnown) this.#setHeads([answer.head]);
}

#applyOwn({ kind, at, body = {} }) {
if (kind === "self.hide") return this.#hide(body.conv, body.seqs);
if (kind === "self.set") return this.#loadProfile();
if (kind.startsWith("contact.")) {
if (body.incoming) this.#notify(at, { kind, user: body.user, text: body.text });
return this.#loadContacts();
}
if (kind.startsWith("device.")) return body.device !== this.#session.device && this.#notify(at, { kind, ...body });
const { conv, draft, ...values } = body;
if (!conv) return;
if (kind === "self.draft") { if (!this.#own.hasDraft(conv)) this.putHead(conv, (head) => drafted(head, draft)); }
else this.putHead(conv, (head) => ({ ...head, own: { ...head.own, ...values } }));
}

async #tellMissed() {
const { events } = await this.#logs.page({ conv: this.#session.self, limit: 40 }).catch(() => ({ events: [] }));
for (const event of events) if (/^(device|contact)\./.test(event.kind) && event.at > this.#noticed) this.#applyOwn(event);
}

#notify(at, notice) {
if (this.#noticed === undefined || !(at > this.#noticed)) return;
this.#noticed = at;
this.database.setMeta("noticed", at);
this.emit({ type: "notice", notice });
}

async #hide(conv, seqs) {
const events = await this.database.events(conv, Math.min(...seqs), Math.max(...seqs));
await this.database.put("events", ...events.filter((event) => seqs.includes(event.seq)).map(({ seq, n, asOf }) => ({ conv, seq, n, kind: "hidden", asOf })));
this.emit({ type: "hidden", conv, seqs });
if (seqs.includes(this.#heads.get(conv)?.last?.seq)) await this.#previewVisible(conv);
}

async #previewVisible(conv) {
const { last, kind } = this.#heads.get(conv) ?? {};
const events = await this.database.trailing(conv, Infinity, 100);
const visible = events.findLast((event) => event.seq <= last?.seq && event.kind !== "hidden" && movesUp(event, kind));
this.putHead(conv, (head) => (head.last?.seq === last?.seq ? { ...head, last: visible && preview(visible) } : head));
}

acknowledged(event) {
this.#logs.received([event]);
this.#outbox.applied(event.conv, this.#logs.cursor(event.conv));
}


async #verb(verb, body) {
const { id = uuid(), ...plain } = body;
const answer = await this.call(verb, UNCHANGING.has(verb) ? plain : { id, ...plain });
if (answer.head) this.#setHeads([answer.head]);
if (answer.user && verb === "profile.set") this.#setSession({ user: answer.user });
const seq = answer.seq ?? answer.call;
if (seq && answer.conv) this.#logs.announced(answer.conv, seq, false);
if (verb === "own.set") this.putHead(body.conv, (head) => ({ ...head, own: owning(head.own, body) }));
if (/^contact\.|^(un)?block$/.test(verb)) this.#loadContacts();
if (verb === "settings.set") { this.#settings = { ...this.#settings, ...body.settings }; this.emit({ type: "settings", settings: this.#settings }); }
if (verb === "member.answer") await (body.accept ? this.#loadHead(body.conv, true) : this.#setHeads([], [body.conv]));
if (verb === "member.leave" || verb === "conversation.delete") this.#setHeads([], [body.conv]);
return answer;
}

async #search(body) {
const isLocal = typeof body.page === "object";
if (this.connectionState === "online" && !isLocal) {
try {
return await this.call("search", body);
} catch (error) {
if (error.code !== "unsupported") throw error;
}
}
if (typeof body.page === "string") throw new Refusal({ code: "offline", message: "There is no connection." });
return searchCache(this.database, body);
}

#show(tab, convs) {
if (convs.length) this.#shown.set(tab, convs);
else this.#shown.delete(tab);
this.#subscribe();
return {};
}

#subscribe() {
const convs = [...new Set([...this.#shown.values()].flat())].slice(-20);
if (this.isOnline) this.call("subscribe", { convs }).catch(() => {});
}

async #loadContacts() {
const all = [];
try {
for (let page; ;) {
const answer = await this.call("contacts", { page });
all.push(...answer.contacts);
if (!(page = answer.page)) break;
}
} catch { return; }
if (all.some(isUntold)) await this.#tellRequests(all);
this.#contacts = all;
this.database.setMeta("contacts", all);
this.emit({ type: "contacts", contacts: all });
}

async #tellRequests(contacts) {
for (let before, page = 0; page < PAGES_OF_REQUESTS; page += 1) {
const { events = [] } = await this.call("history", { conv: this.#session.self, limit: 200, before }).catch(() => ({}));
for (const { kind, at, body } of events.toReversed()) {
const contact = kind === "contact.request" && contacts.find((each) => isUntold(each) && each.user.name === body?.user && Boolean(body.incoming) === (each.state === "asked"));
if (contact) Object.assign(contact, { at, ...(body.text && { text: body.text }) });
}
before = events[0]?.seq;
if (!before || before === 1 || !contacts.some(isUntold)) return;
}
}

async #loadProfile() {
const { name } = this.user;
const [user] = (await this.call("users", { names: [name] }).catch(() => ({ users: [] }))).users;
if (user && this.user?.name === name) this.#setSession({ user });
return this.#loadSettings();
}

async #loadSettings() {
const answer = await this.call("settings", {}).catch(() => null);
if (!answer) return;
this.#settings = answer.settings;
this.database.setMeta("settings", answer.settings);
this.emit({ type: "settings", settings: answer.settings });
}

later(key, delay, work) {
clearTimeout(this.#timers.get(key));
this.#timers.set(key, setTimeout(work, delay));
}
}
return { Core };
})();
const $core_worker = (() => {

const { Core } = $core_core;
const { refusal, uuid } = $core_requests;

const channel = new BroadcastChannel("apus-chat-core");
const tab = uuid();
const pending = new Map();
let core = null;

self.onmessage = ({ data }) => {
const request = { ...data, body: named(data.name, data.body) };
pending.set(request.id, request);
ask(request);
};

channel.onmessage = ({ data }) => {
if (data.leader) for (const request of pending.values()) ask(request);
else if (data.event && !core) self.postMessage({ event: data.event });
else if (data.to === tab) answered(data.answer);
else if (data.request && core) serve(data.request, data.from, (answer) => channel.postMessage({ to: data.from, answer }));
};

navigator.locks.request("apus-chat-core", () => {
core = new Core((event) => {
self.postMessage({ event });
channel.postMessage({ event });
});
self.postMessage({ event: { type: "leading" } });
channel.postMessage({ leader: tab });
for (const request of pending.values()) ask(request);
return new Promise(() => {});
});

function ask(request) {
if (core) serve(request, tab, answered);
else channel.postMessage({ request, from: tab });
}

async function serve({ id, name, body }, from, reply) {
try {
reply({ id, value: await core.request(name, body, from) });
} catch (error) {
reply({ id, error: refusal(error).plain });
}
}

function answered(answer) {
if (pending.delete(answer.id)) self.postMessage(answer);
}

function named(name, body = {}) {
if (name === "send") return { key: uuid(), ...body };
if (name === "verb") return { ...body, body: { id: uuid(), ...body.body } };
return body;
}
return {  };
})();

"""#))

    private static let _js_i18n_en_2e4c54e0de852af3_js = EmbeddedFile(path: "js/i18n-en-2e4c54e0de852af3.js", content: .text(#"""
export default ({  }) => {
const $i18n_en = (() => {

const en = {
appName: "Apus",
cancel: "Cancel",
close: "Close",
save: "Save",
saved: "Saved",
show: "Show",
menu: "Main menu",
never: "Never",
unlimited: "Unlimited",
done: "Done",
back: "Back",
more: "More",
ok: "OK",
yes: "Yes",
no: "No",
none: "None",
retry: "Try again",
discard: "Discard",
copy: "Copy",
copied: "Copied",
delete: "Delete",
remove: "Remove",
edit: "Edit",
search: "Search",
loading: "Loading…",
you: "You",
youInside: "you",
yourName: "You",
signIn: "Sign in",
signInLead: "Welcome back",
invitedLead: "You have an invitation. Sign in or create an account to see it.",
register: "Create account",
registerLead: "Create your account",
recover: "Reset password",
recoverLead: "Use one of your recovery codes",
recoveryCode: "Recovery code",
userName: "User name",
userNameHint: "Letters and digits, no spaces. It cannot be changed later.",
nick: "Shown name",
password: "Password",
newPassword: "New password",
currentPassword: "Current password",
passwordHint: "At least 8 characters.",
showPassword: "Show password",
hidePassword: "Hide password",
forgot: "Forgot your password?",
haveAccount: "I have an account",
noAccount: "Create an account",
wrongPassword: "The user name or the password is wrong.",
passwordWrong: "The password is wrong.",
nameTaken: "This user name is taken.",
fieldRequired: "Please fill in this field.",
inviteCode: "Invitation code",
inviteCodeHint: "This server creates accounts for invited people only.",
invitationWrong: "The invitation code is wrong or was used up.",
registrationClosed: "Accounts are created by the operator of this server.",
recoveryWrong: "The user name or the recovery code is wrong.",
nameRefused: "This user name is not possible. Use letters, digits, “.”, “-” and “_”, and no spaces.",
code: "One-time code",
codeHint: "The code in your authenticator app, or a recovery code.",
chats: "Chats",
allChats: "All",
unread: "Unread",
groups: "Groups",
people: "People",
archived: "Archived",
channels: "Channels",
newChat: "New chat",
newGroup: "New group",
newChannel: "New channel",
contacts: "Contacts",
settings: "Settings",
savedMessages: "Notes to self",
signOut: "Sign out",
signOutQuestion: "Sign out of this browser?",
signOutUnsent: { one: "{n} message was not sent yet and will be lost.", other: "{n} messages were not sent yet and will be lost." },
noChats: "No chats yet",
noChatsHint: "Start with a person or a group.",
noUnread: "Everything is read",
noResults: "Nothing found",
noPeopleHint: "Try the whole user name.",
noResultsHint: "Check the spelling or try fewer words.",
searchChats: "Search chats and messages",
oneNewMessage: "New message",
message: "Message",
explore: "Explore",
exploreHint: "Groups and channels that are open to all.",
linkInvites: "{name} invites you to join",
whoReacted: "Who reacted",
whoVoted: "Who voted",
votesShown: "{n} of {all} votes are in the log that you can see",
messages: "Messages",
messageCount: { one: "{n} message", other: "{n} messages" },
selectChat: "Choose a chat to start",
selectChatHint: "Press Ctrl+K to jump to a person, a group or a message.",
pinChat: "Pin",
unpinChat: "Unpin",
archive: "Archive",
unarchive: "Move out of archive",
mute: "Mute",
unmute: "Unmute",
muteFor: "Mute for {time}",
muteForever: "Mute for good",
markRead: "Mark as read",
markUnread: "Mark as unread",
deleteChat: "Delete for me",
deleteChatQuestion: "Delete this chat from your list?",
draft: "Draft",
draftPrefix: "Draft: ",
colon: ": ",
typing: "typing…",
typingOne: "{name} is typing…",
typingMany: { one: "{n} person is typing…", other: "{n} people are typing…" },
online: "online",
lastSeen: "last seen {time}",
lastSeenJustNow: "last seen just now",
membersCount: { one: "{n} member", other: "{n} members" },
membersOnline: { one: "{members}, {n} online", other: "{members}, {n} online" },
subscribers: { one: "{n} subscriber", other: "{n} subscribers" },
unreadCount: { one: "{n} unread message", other: "{n} unread messages" },
mentionsCount: { one: "{n} mention", other: "{n} mentions" },
newMessages: "New messages",
jumpToNewest: "Jump to the newest message",
pinnedMessage: "Pinned message",
pinnedMessages: "Pinned messages",
messagePlaceholder: "Message",
captionPlaceholder: "Caption",
send: "Send",
sendSilently: "Send without sound",
schedule: "Schedule",
scheduleAt: "Send at",
scheduled: "Scheduled messages",
scheduledCount: { one: "{n} message scheduled", other: "{n} messages scheduled" },
scheduledFor: "Will be sent on {time}",
attach: "Attach",
attachPicture: "Picture or video",
attachFile: "File",
attachPoll: "Poll",
attachLocation: "Location",
attachContact: "Contact",
emoji: "Emoji",
searchEmoji: "Search emoji",
dropHere: "Drop files here to send them",
removeAttachment: "Remove {name}",
disappearing: "Disappearing messages",
disappearingHint: "New messages are removed for all members after this time.",
disappearAfter: "Remove after",
disappearingOn: "Messages disappear after {time}",
off: "Off",
reply: "Reply",
replyTo: "Reply to {name}",
replyInThread: "Reply in thread",
thread: "Thread",
replies: { one: "{n} reply", other: "{n} replies" },
forward: "Forward",
forwardTo: "Forward to…",
forwardedFrom: "Forwarded from {name}",
forwarded: "Forwarded",
forwardMerged: "Send as one message",
editMessage: "Edit message",
edited: "edited",
editHistory: "Earlier versions",
removePreview: "Remove the link preview",
recall: "Recall",
recallQuestion: "Recall this message for all members?",
recallQuestionPair: "Recall this message for both of you?",
recallQuestionSelf: "Recall this message?",
recalled: "Message recalled",
recalledByYou: "You recalled this message",
expired: "Message expired",
erased: "Message deleted",
hide: "Delete for me",
hideQuestion: { one: "Delete this message from your view?", other: "Delete these {n} messages from your view?" },
react: "React",
reactWith: "React with {emoji}",
reactionLabel: { one: "{emoji}: {n} reaction", other: "{emoji}: {n} reactions" },
pin: "Pin",
unpin: "Unpin",
copyText: "Copy text",
copyLink: "Copy link",
select: "Select",
selectedCount: { one: "{n} selected", other: "{n} selected" },
readBy: "Read by",
download: "Download",
openPicture: "Open picture",
picture: "Picture",
video: "Video",
voiceMessage: "Voice message",
lasting: "{what}, {time}",
audio: "Audio",
file: "File",
location: "Location",
recordVoice: "Record a voice message",
recordHint: "Hold to record, or press to record without holding",
recording: "Recording",
recordSlide: "Slide to the left to cancel, up to lock",
recordLocked: "Recording, without holding",
recordCancel: "Discard the recording",
recordCancelled: "The recording was discarded",
recordShort: "Hold the button to record.",
recordVideo: "Record a video",
recordStop: "End the recording",
microphoneRefused: "The microphone is not allowed for this page.",
microphoneFailed: "The microphone is not available.",
attachCamera: "Video from the camera",
cameraRefused: "The camera is not allowed for this page.",
cameraFailed: "The camera is not available.",
cameraPicture: "Picture of the camera",
cameraFlip: "Other camera",
play: "Play",
pause: "Pause",
playPlace: "Place in the recording",
placeOf: "{time} of {length}",
playSpeed: "Speed: {rate}×",
playFailed: "This recording cannot be played.",
notPlayed: "Not played yet",
openVideo: "Open video",
cancelUpload: "Cancel the upload",
previousPicture: "Previous",
nextPicture: "Next",
pictureOf: "{n} of {total}",
zoomIn: "Enlarge",
zoomOut: "Make smaller",
showInChat: "Show in chat",
media: "Media",
tabMedia: "Pictures and videos",
tabFiles: "Files",
tabLinks: "Links",
tabVoice: "Voice",
noMedia: "Nothing here yet",
north: "{degrees} N",
south: "{degrees} S",
east: "{degrees} E",
west: "{degrees} W",
coordinates: "{latitude}, {longitude}",
accuracy: "within {distance}",
openInMaps: "Open in maps",
latitude: "Latitude",
longitude: "Longitude",
myLocation: "My location",
placeName: "Name of the place",
locationRefused: "The location is not allowed for this page.",
locationFailed: "The location is not available.",
contactCard: "Contact card",
poll: "Poll",
bundle: "Forwarded messages",
encrypted: "Encrypted message",
unknownKind: "Update to see this message",
hidden: "Message not available",
call: "Call",
callAudio: "Voice call",
callVideo: "Video call",
callMissed: "Missed call",
callDeclined: "Declined call",
callBusy: "Busy",
callRinging: "Ringing…",
callOngoing: "A call takes place",
callBack: "Call back",
callOutgoingMissed: "No answer",
callIncoming: "{name} is calling",
callIncomingVideo: "{name} is calling with video",
callIncomingGroup: "{name} is calling {group}",
callAnswer: "Answer",
callAnswerAudio: "Answer without video",
callAnswerVideo: "Answer with video",
callDecline: "Decline the call",
callCalling: "Calling…",
callConnected: "Connected",
callReconnecting: "Reconnecting…",
callAlone: "Waiting for others…",
callNoAnswer: "No answer",
callWasDeclined: "The call was declined",
callWasBusy: "The other person is in another call",
callElsewhere: "Answered on another device",
callOver: "Call ended",
callLost: "The connection was lost",
callFull: "The call is full: four people can take part",
callFailed: "The call failed",
callNeedsClient: "This call needs a client with LiveKit, which this page does not have",
callOtherFirst: "End the present call first",
callWith: "Call: {name}",
callControls: "Controls of the call",
callHangUp: "Hang up",
callLeave: "Leave the call",
callMute: "Mute the microphone",
callUnmute: "Unmute the microphone",
callMutedOther: "Microphone is off",
callCameraOn: "Turn the camera on",
callCameraOff: "Turn the camera off",
callShare: "Share the screen",
callUnshare: "Stop sharing the screen",
callPicture: "Picture in picture",
callDevices: "Microphone, camera and speaker",
callMicrophone: "Microphone",
callCamera: "Camera",
callSpeaker: "Speaker",
callNoDevices: "No devices were found",
callMinimize: "Make the call small",
callMaximize: "Make the call large",
callOwnPicture: "Your picture",
callQualityGood: "Good connection",
callQualityFair: "Fair connection",
callQualityPoor: "Poor connection",
callDenied: "The browser does not permit the microphone or the camera. Permit them in its settings for this site, and call again.",
callMissing: "No microphone or camera was found.",
callInUse: "The microphone or the camera is used by another program.",
callInsecure: "Calls need HTTPS. Open this page by its https: address.",
spoiler: "Hidden text; press to show",
pollAnonymous: "Anonymous poll",
pollPublic: "Poll",
pollMultiple: "Several answers",
pollVotes: { one: "{n} vote", other: "{n} votes" },
pollClosed: "Final result",
pollClose: "End the poll",
pollQuestion: "Question",
pollOption: "Option {n}",
pollAddOption: "Add an option",
pollCreate: "New poll",
statusQueued: "Waiting to be sent",
statusUploading: "Uploading",
statusSending: "Sending",
statusSent: "Sent",
statusDelivered: "Delivered",
statusRead: "Read",
statusFailed: "Not sent",
failedReason: "Not sent: {reason}",
spokenMessage: "{name}, {time}: {text}",
spokenNew: "New message from {name}: {text}",
messageActions: "Message actions",
reactions: "Reactions",
messageList: "Messages",
chatList: "Chats",
chatInfo: "Details",
noMessages: "No messages yet",
noNotesHint: "What you write here is for you alone, on all your devices.",
noPublicChats: "There are no public groups or channels yet.",
noMessagesHint: "Say hello!",
nameMark: "@{name}",
looksLike: "@{name} is not your contact {other} (@{account}). The names look alike.",
looksLikeYou: "@{name} has a name that looks like yours.",
isDeleted: "This account was deleted.",
groupTitle: "Title",
groupAbout: "Description",
addMembers: "Add members",
searchPeople: "Name or @name",
createGroup: "Create group",
createChannel: "Create channel",
next: "Next",
members: "Members",
searchMembers: "Search members",
roleOwner: "Owner",
roleAdmin: "Admin",
roleMember: "Member",
roleReader: "Reader",
roleGuest: "Guest",
roleAdminHint: "May change the group and manage members.",
roleMemberHint: "May write, and what the permissions allow.",
roleReaderHint: "May read and react.",
roleGuestHint: "May write, but not invite, pin or mention all.",
changeRole: "Change role",
roleOf: "Role of {name}",
transferOwner: "Transfer ownership",
transferQuestion: "Make {name} the owner? You become an admin.",
newOwner: "Name a new owner",
transferAndLeave: "Make {name} the owner and leave?",
muteMember: "Mute…",
muteNamed: "Mute {name}",
unmuteMember: "Let write again",
mutedUntil: "Muted until {time}",
mutedForever: "Muted",
forTime: "For {time}",
forGood: "For good",
removeMember: "Remove",
removeQuestion: "Remove {name}?",
banMember: "Remove and ban…",
banNamed: "Remove and ban {name}",
unban: "Lift the ban",
bannedUntil: "Banned until {time}",
bannedForever: "Banned",
takeBackInvitation: "Take back the invitation",
joinRequests: "Requests",
joinRequest: "Request to join",
joinRequestsPush: "{n} requests to join",
joinRequestCount: { one: "{n} request to join", other: "{n} requests to join" },
invitedPeople: "Invited",
bannedPeople: "Banned",
noJoinRequests: "No requests to join",
noInvited: "No open invitations",
noBanned: "No user is banned",
askedAt: "asked to join {time}",
invitedBy: "invited by {name}",
wereInvited: "{users} got an invitation.",
wereNotAdded: "Could not be added: {users}",
addShort: "Add",
createdBy: "Created by {name} on {time}",
createdAt: "Created on {time}",
inviteLinks: "Invite links",
newLink: "New link",
createLink: "Create link",
noLinks: "No links yet",
linkEnds: "Valid",
linkAfter: "for {time}",
linkMost: "People who may join",
peopleCount: { one: "{n} person", other: "{n} people" },
linkRole: "Join as",
linkApproval: "An admin approves each user",
linkHint: "Until the link ends, any user with it can join at once or, with an approval, ask to join.",
linkForever: "without an end",
linkBy: "by {name}",
linkEnded: "This invite link has ended.",
revokeQuestion: "Revoke this link? It then no longer admits new members.",
linkUses: { one: "{used} of {n} used", other: "{used} of {n} used" },
linkUsed: { one: "Used {n} time", other: "Used {n} times" },
linkExpires: "until {time}",
revoke: "Revoke",
groupSettings: "Permissions",
rightsOfMembers: "What members may do",
whoWrite: "Who may write",
whoInvite: "Who may invite",
whoManage: "Who may change the profile",
whoPin: "Who may pin",
whoMentionAll: "Who may mention all",
everyMember: "All members",
onlyAdmins: "Only admins",
joining: "Joining",
whoJoins: "How people join",
joinClosed: "By invitation",
joinApproval: "After approval",
joinOpen: "Open to all",
listed: "Show in the directory",
historyFor: "History for new members",
historyAll: "Everything",
historyJoin: "From joining on",
slowMode: "Slow mode",
slowOn: "Slow mode: a message every {time}",
slowLeft: "Slow mode: your next message is sent in {time}",
showReceipts: "Show who has read",
leave: "Leave group",
leaveChannel: "Leave channel",
leaveChannelQuestion: "Leave this channel?",
leaveLast: "You are the last member. After you leave, it can no longer be opened.",
deleteForAll: "Delete for all",
deleteForAllQuestion: "Delete “{title}” for all members?",
deleteForAllHint: "All its messages are erased. This cannot be undone.",
deletedForAll: "It was deleted for all members.",
leaveQuestion: "Leave this group?",
leaveOwner: "You are the owner. Choose the member who becomes the owner when you leave.",
report: "Report",
reportReason: "What is wrong?",
reportHint: "Reports go to the operators of this server, who can see what you report.",
reportText: "What happened? (optional)",
reportNamed: "Report {name}",
chooseReason: "Please choose a reason.",
reasonSpam: "Advertising or spam",
reasonAbuse: "Insults or harassment",
reasonViolence: "Violence or threats",
reasonIllegal: "Illegal content",
reasonImpersonation: "Pretends to be another user",
reasonOther: "Something else",
reported: "Thank you, the report was sent.",
block: "Block",
unblock: "Unblock",
blockQuestion: "Block {name}? Messages from this account are no longer shown.",
addContact: "Add to contacts",
removeContact: "Remove from contacts",
contactRequests: "Contact requests",
sentRequests: "Sent requests",
requestCount: { one: "{n} contact request", other: "{n} contact requests" },
sentAt: "sent {time}",
takeBack: "Take back",
takeBackRequest: "Take back the request",
requestTakenBack: "The request was taken back.",
requestAccepted: "{name} is now a contact.",
requestDeclined: "The request of {name} was declined.",
requestSent: "The request was sent to {name}.",
requestText: "Message with the request (optional)",
requestPlaceholder: "Say who you are",
sendRequest: "Send request",
addContactNamed: "Add {name} to contacts",
asksForContact: "Wants to be your contact",
newRequest: "{name} wants to be your contact.",
nowContact: "{name} accepted your request.",
removeContactQuestion: "Remove {name} from your contacts?",
accept: "Accept",
decline: "Decline",
alias: "Alias",
setAlias: "Set an alias",
changeAlias: "Change the alias",
aliasHint: "Only you see it, in place of “{name}”. Empty removes it.",
writeMessage: "Message",
noContacts: "No contacts yet",
noContactsHint: "Search by name or @name.",
invited: "{name} invites you to this group",
join: "Join",
requested: "Your request to join waits for approval.",
askToJoin: "Ask to join",
approvalHint: "An admin has to approve your request.",
isJoined: "Joined",
isRequested: "Requested",
group: "Group",
channel: "Channel",
leftGroup: "You are no longer a member of this group.",
cannotWrite: "Only admins can write here.",
onlyReads: "You may read here, but not write.",
silenced: "An admin has silenced you in this conversation.",
silencedUntil: "An admin has silenced you until {time}.",
aloneInGroup: "You are alone in this group.",
aloneInChannel: "This channel has no subscribers yet.",
profile: "Profile",
statusText: "Status",
avatar: "Picture",
changePicture: "Change picture",
removePicture: "Remove picture",
notAPicture: "This file is not a picture.",
nickHint: "Others see this name. Several people may have the same one.",
language: "Language",
system: "System",
theme: "Theme",
light: "Light",
dark: "Dark",
appearance: "Appearance",
notifications: "Notifications",
notificationsDesktop: "Desktop notifications",
notificationsSound: "Sound",
notificationsPreview: "Show the text of messages",
notificationsHTTPS: "Notifications need HTTPS.",
quietHours: "Quiet hours",
quietFrom: "From",
quietUntil: "Until",
quietHint: "No notifications in these hours, on all devices.",
privacy: "Privacy",
privacyLastSeen: "Who sees when I was online",
privacyAvatar: "Who sees my picture",
privacyMessages: "Who may start a chat with me",
privacyAdd: "Who may add me to groups",
privacyFind: "Who finds me by search",
privacyReceipts: "Read receipts",
privacyTyping: "Show when I am typing",
all: "All",
everyone: "Everyone",
contactsOnly: "My contacts",
nobody: "Nobody",
sessions: "Sessions",
thisDevice: "This device",
otherSessions: "Other sessions",
noOtherSessions: "You are signed in on this device only.",
signedInAt: "Signed in {time}",
sessionEnded: "{name} was signed out.",
othersEnded: "All other sessions have ended.",
endOthersHint: "This device stays signed in.",
endSession: "Sign out",
endOtherSessions: "Sign out everywhere else",
lastActive: "Last active {time}",
security: "Security",
changePassword: "Change password",
passwordChanged: "The password was changed.",
passwordEnds: "All other sessions end.",
recoveryCodes: "Recovery codes",
recoveryKept: "I have kept them",
recoveryCodesHint: "With one of these codes you can set a new password, or sign in without your authenticator. Each works once. Keep them in a safe place.",
blocked: "Blocked",
noBlocked: "No blocked accounts.",
notAContact: "Not a contact",
youBlocked: "You blocked {name}.",
blockedHint: "You do not see what blocked accounts write to you. They are not told.",
account: "Account",
exportData: "Export my data",
exportHint: "A file with your profile, contacts, messages and files.",
signOutHint: "Messages stored on this device are removed from it.",
insecure: "Not encrypted",
insecureHint: "This page was opened without HTTPS. The browser then offers no notifications, no start without a connection, no microphone and no clipboard, and each tab has a connection of its own.",
deleteAccount: "Delete my account",
deleteAccountHint: "Your messages are blanked and you leave all groups. This cannot be undone.",
deleteAccountQuestion: "Delete the account {name}? Your messages are blanked, and the name is never given out again.",
accountDeleted: "Your account was deleted.",
deleteAccountDo: "Delete the account",
enterSends: "Send with Enter",
filterKind: "Kind",
filterFrom: "From",
filterChat: "Chat",
filterWhen: "Time",
anyKind: "All kinds",
anyTime: "Any time",
lastWeek: "Last 7 days",
lastMonth: "Last 30 days",
lastYear: "Last year",
anyPerson: "Anyone",
here: "In this chat",
everywhere: "In all chats",
resultCount: { one: "{n} result", other: "{n}{more} results" },
quickJump: "Jump to a chat, a person or a message",
offline: "You are offline. Messages are sent when the connection is back.",
connecting: "Connecting…",
updateReady: "A new version is ready.",
reload: "Reload",
errorForbidden: "You may not do this.",
errorNotFound: "This is no longer available.",
errorFileLost: "The file is missing: {name}. Choose it again in a new message.",
errorLimit: "The limit of the server is reached.",
errorTooMany: "Too many requests. Please wait a moment.",
errorTooManyUntil: "Too many at once. Try again in {time}.",
errorSilenced: "An admin has silenced you for another {time}.",
errorTooLong: "This is too long or too large.",
errorUnavailable: "The server is starting, stopping or overloaded. Please try again soon.",
errorUnauthorized: "The session has ended. Please sign in again.",
errorInsecure: "This needs HTTPS.",
errorCancelled: "Cancelled.",
errorRefused: "The server refused this: {reason}",
errorServer: "The server has an error: {reason}",
errorTooLate: "The time for this is over.",
errorTooLarge: "This file is too large. The limit is {size}.",
errorOffline: "There is no connection to the server.",
errorStorage: "The server cannot store this at the moment.",
errorConflict: "This was changed in the meantime.",
undo: "Undo",
hidden1: "Message deleted for you.",
eventBeginChat: "The chat begins here",
eventCreateGroup: "{name} created the group",
eventCreateChannel: "The channel was created",
eventJoin: "{users} joined",
eventAdd: "{name} added {users}",
eventLeave: "{name} left",
eventRemove: "{name} removed {users}",
eventBan: "{name} banned {users}",
eventBanUntil: "{name} banned {users} until {time}",
eventUnban: "{name} lifted the ban of {users}",
eventMute: "{name} muted {users}",
eventMuteUntil: "{name} muted {users} until {time}",
eventUnmute: "{name} let {users} write again",
eventInvite: "{name} invited {users}",
eventRole: "{name} made {users} {role}",
eventTitle: "{name} changed the title to “{title}”",
eventPicture: "{name} changed the picture",
eventAbout: "{name} changed the description",
eventSettings: "{name} changed the settings",
eventExpire: "{name} let messages disappear after {time}",
eventKeep: "{name} turned off disappearing messages",
eventSlow: "{name} turned on slow mode: a message every {time}",
eventSlowEnd: "{name} turned off slow mode",
eventWriteAll: "{name} let all members write",
eventWriteAdmins: "{name} let only admins write",
eventPin: "{name} pinned a message",
eventUnpin: "{name} unpinned a message",
eventReact: "{name} reacted with {emoji}",
eventOther: "{name} changed this chat",
emojiSmileys: "Smileys",
emojiPeople: "People",
emojiNature: "Nature",
emojiFood: "Food",
emojiActivities: "Activities",
emojiTravel: "Travel",
emojiObjects: "Objects",
emojiSymbols: "Symbols",
mentionAll: "all",
mentionAllHint: "Notify all members",
totp: "Two-step sign-in",
totpHint: "After the password, a sign-in asks for a code of an authenticator app.",
totpSetUp: "Set up an authenticator",
totpRemove: "Remove the authenticator",
totpScan: "Scan this code with the authenticator app.",
totpType: "Or type this key into the app:",
totpOpen: "Open the authenticator on this device",
totpOn: "Two-step sign-in is on.",
totpRemoved: "Two-step sign-in is off.",
qrcode: "QR code of the key",
wrongCode: "The code is wrong. Each code works once, for 30 seconds.",
confirm: "Confirm",
newRecoveryCodes: "Make new recovery codes",
folders: "Folders",
newFolder: "New folder",
folderName: "Name of the folder",
folderFilter: "Chats in it",
folderChosen: "Chats that I choose",
foldersHint: "Folders are shown above the chats. They follow to your other devices.",
folderLimit: "There can be at most {n} folders.",
rename: "Rename",
deleteFolder: "Delete the folder",
deleteFolderQuestion: "Delete the folder “{name}”? Its chats stay.",
albumOf: "Album of {n} pictures",
newSignIn: "A new sign-in to your account: {name}",
notMember: "You are no longer in “{title}”.",
unknownLink: "This link does not lead to one of your chats.",
dismissed: "This session has ended. Please sign in again.",
dismissedClosed: "This account was closed.",
dismissedVersion: "This page is out of date. Please reload it.",
searchLocal: "messages on this device only",
errorUnsupported: "This server does not offer this.",
disappearsAt: "Disappears on {time}",
inThread: "in a thread",
readCount: "Read by {n} of {all}",
firstVersion: "first version",
sendNow: "Send now",
changeTime: "Change the time",
forwardAnonymous: "Without the names of the senders",
pollCloses: "Ends at a time",
pollClosesAt: "The poll ends at",
pollEnds: "ends on {time}",
inHour: "In an hour",
tonight: "Tonight",
tomorrowMorning: "Tomorrow morning",
timeZone: "In your time zone, {zone}.",
notifyAbout: "Notify about",
notifyAll: "All messages",
notifyMentions: "Mentions only",
notificationsDenied: "This browser blocks notifications of this page. Permit them in its settings.",
notificationsPush: "Also while the page is closed",
notificationsPushHint: "Messages are encrypted for this browser.",
notificationsPushMissing: "This browser or the server cannot push messages.",
chooseOther: "Choose…",
fromDay: "From day",
untilDay: "Until day",
betweenDays: "Between two days",
lastDay: "Last 24 hours",
offlineShort: "You are offline",
};
return { en };
})();
return $i18n_en;
};

"""#))

    private static let _js_i18n_zh_9991380d6e17d28d_js = EmbeddedFile(path: "js/i18n-zh-9991380d6e17d28d.js", content: .text(#"""
export default ({  }) => {
const $i18n_zh = (() => {

const zh = {
appName: "Apus",
cancel: "取消",
close: "关闭",
save: "保存",
saved: "已保存",
show: "查看",
menu: "主菜单",
never: "永不",
unlimited: "不限",
done: "完成",
back: "返回",
more: "更多",
ok: "好",
yes: "是",
no: "否",
none: "无",
retry: "重试",
discard: "放弃",
copy: "复制",
copied: "已复制",
delete: "删除",
remove: "移除",
edit: "编辑",
search: "搜索",
loading: "加载中…",
you: "你",
youInside: "你",
yourName: "你",
signIn: "登录",
signInLead: "欢迎回来",
invitedLead: "你收到了一个邀请，登录或创建账号后即可查看。",
register: "注册账号",
registerLead: "创建你的账号",
recover: "重设密码",
recoverLead: "使用你的恢复码之一",
recoveryCode: "恢复码",
userName: "用户名",
userNameHint: "字母（也可用汉字）和数字，不含空格，之后不能更改。",
nick: "显示名称",
password: "密码",
newPassword: "新密码",
currentPassword: "当前密码",
passwordHint: "至少 8 个字符。",
showPassword: "显示密码",
hidePassword: "隐藏密码",
forgot: "忘记密码？",
haveAccount: "已有账号",
noAccount: "创建新账号",
wrongPassword: "用户名或密码不正确。",
passwordWrong: "密码不正确。",
nameTaken: "该用户名已被使用。",
fieldRequired: "请填写此项。",
inviteCode: "邀请码",
inviteCodeHint: "此服务器仅为受邀用户开通账号。",
invitationWrong: "邀请码错误或已被用完。",
registrationClosed: "账号由服务器管理员创建。",
recoveryWrong: "用户名或恢复码错误。",
nameRefused: "该用户名不可用。请使用字母、汉字、数字、“.”、“-”和“_”，不含空格。",
code: "一次性验证码",
codeHint: "身份验证器中的验证码，或一个恢复码。",
chats: "聊天",
allChats: "全部",
unread: "未读",
groups: "群组",
people: "联系人",
archived: "已归档",
channels: "频道",
newChat: "新聊天",
newGroup: "新建群组",
newChannel: "新建频道",
contacts: "通讯录",
settings: "设置",
savedMessages: "给自己的备忘",
signOut: "退出登录",
signOutQuestion: "退出此浏览器上的登录？",
signOutUnsent: "还有 {n} 条消息未发送，退出后会丢失。",
noChats: "还没有聊天",
noChatsHint: "从联系人或群组开始吧。",
noUnread: "全部已读",
noResults: "没有找到结果",
noPeopleHint: "请尝试输入完整的用户名。",
noResultsHint: "请检查拼写，或减少关键词。",
searchChats: "搜索聊天和消息",
oneNewMessage: "新消息",
message: "消息",
explore: "发现",
exploreHint: "公开的群组和频道。",
linkInvites: "{name} 邀请你加入",
whoReacted: "谁回应了",
whoVoted: "谁投了票",
votesShown: "可见的记录中有 {all} 票中的 {n} 票",
messages: "消息",
messageCount: "{n} 条消息",
selectChat: "选择一个聊天开始",
selectChatHint: "按 Ctrl+K 可快速跳转到联系人、群组或消息。",
pinChat: "置顶",
unpinChat: "取消置顶",
archive: "归档",
unarchive: "移出归档",
mute: "静音",
unmute: "取消静音",
muteFor: "静音 {time}",
muteForever: "始终静音",
markRead: "标为已读",
markUnread: "标为未读",
deleteChat: "为我删除",
deleteChatQuestion: "从你的列表中删除此聊天？",
draft: "草稿",
draftPrefix: "草稿：",
colon: "：",
typing: "正在输入…",
typingOne: "{name} 正在输入…",
typingMany: "{n} 人正在输入…",
online: "在线",
lastSeen: "最后上线：{time}",
lastSeenJustNow: "刚刚在线",
membersCount: "{n} 位成员",
membersOnline: "{members}，{n} 人在线",
subscribers: "{n} 位订阅者",
unreadCount: "{n} 条未读消息",
mentionsCount: "{n} 次提及",
newMessages: "新消息",
jumpToNewest: "跳到最新消息",
pinnedMessage: "置顶消息",
pinnedMessages: "置顶消息",
messagePlaceholder: "消息",
captionPlaceholder: "说明文字",
send: "发送",
sendSilently: "静默发送",
schedule: "定时发送",
scheduleAt: "发送时间",
scheduled: "定时消息",
scheduledCount: "{n} 条定时消息",
scheduledFor: "将于 {time} 发送",
attach: "添加附件",
attachPicture: "图片或视频",
attachFile: "文件",
attachPoll: "投票",
attachLocation: "位置",
attachContact: "名片",
emoji: "表情",
searchEmoji: "搜索表情",
dropHere: "拖放文件到此处发送",
removeAttachment: "移除 {name}",
disappearing: "消息自动消失",
disappearingHint: "新消息会在此时间之后为所有人删除。",
disappearAfter: "删除时间",
disappearingOn: "消息将在 {time}后消失",
off: "关闭",
reply: "回复",
replyTo: "回复 {name}",
replyInThread: "在话题中回复",
thread: "话题",
replies: "{n} 条回复",
forward: "转发",
forwardTo: "转发给…",
forwardedFrom: "转发自 {name}",
forwarded: "转发的消息",
forwardMerged: "合并为一条消息",
editMessage: "编辑消息",
edited: "已编辑",
editHistory: "历史版本",
removePreview: "移除链接预览",
recall: "撤回",
recallQuestion: "为所有成员撤回此消息？",
recallQuestionPair: "为双方撤回此消息？",
recallQuestionSelf: "撤回此消息？",
recalled: "消息已撤回",
recalledByYou: "你撤回了这条消息",
expired: "消息已过期",
erased: "消息已删除",
hide: "为我删除",
hideQuestion: "仅为你删除这 {n} 条消息？",
react: "回应",
reactWith: "用 {emoji} 回应",
reactionLabel: "{emoji}：{n} 次回应",
pin: "置顶",
unpin: "取消置顶",
copyText: "复制文本",
copyLink: "复制链接",
select: "选择",
selectedCount: "已选择 {n} 条",
readBy: "已读成员",
download: "下载",
openPicture: "打开图片",
picture: "图片",
video: "视频",
voiceMessage: "语音消息",
lasting: "{what}\u00a0{time}",
audio: "音频",
file: "文件",
location: "位置",
recordVoice: "录制语音消息",
recordHint: "按住录音，或点按后免按录音",
recording: "正在录音",
recordSlide: "左滑取消，上滑锁定",
recordLocked: "正在免按录音",
recordCancel: "放弃录音",
recordCancelled: "录音已放弃",
recordShort: "请按住按钮录音。",
recordVideo: "录制视频",
recordStop: "结束录制",
microphoneRefused: "此页面无权使用麦克风。",
microphoneFailed: "麦克风不可用。",
attachCamera: "拍摄视频",
cameraRefused: "此页面无权使用摄像头。",
cameraFailed: "摄像头不可用。",
cameraPicture: "摄像头画面",
cameraFlip: "切换摄像头",
play: "播放",
pause: "暂停",
playPlace: "播放位置",
placeOf: "{time}，共 {length}",
playSpeed: "速度：{rate} 倍",
playFailed: "无法播放此录音。",
notPlayed: "未播放",
openVideo: "打开视频",
cancelUpload: "取消上传",
previousPicture: "上一张",
nextPicture: "下一张",
pictureOf: "第 {n} 张，共 {total} 张",
zoomIn: "放大",
zoomOut: "缩小",
showInChat: "在聊天中查看",
media: "媒体",
tabMedia: "图片和视频",
tabFiles: "文件",
tabLinks: "链接",
tabVoice: "语音",
noMedia: "暂无内容",
north: "北纬 {degrees}",
south: "南纬 {degrees}",
east: "东经 {degrees}",
west: "西经 {degrees}",
coordinates: "{latitude}，{longitude}",
accuracy: "误差 {distance}",
openInMaps: "在地图中打开",
latitude: "纬度",
longitude: "经度",
myLocation: "我的位置",
placeName: "地点名称",
locationRefused: "此页面无权获取位置。",
locationFailed: "无法获取位置。",
contactCard: "名片",
poll: "投票",
bundle: "合并转发的消息",
encrypted: "加密消息",
unknownKind: "更新后可查看此消息",
hidden: "消息不可用",
call: "通话",
callAudio: "语音通话",
callVideo: "视频通话",
callMissed: "未接来电",
callDeclined: "已拒绝的通话",
callBusy: "对方忙",
callRinging: "呼叫中…",
callOngoing: "正在通话中",
callBack: "回拨",
callOutgoingMissed: "无人接听",
callIncoming: "{name} 来电",
callIncomingVideo: "{name} 邀请你视频通话",
callIncomingGroup: "{name} 在 {group} 发起通话",
callAnswer: "接听",
callAnswerAudio: "不开视频接听",
callAnswerVideo: "视频接听",
callDecline: "拒绝来电",
callCalling: "正在呼叫…",
callConnected: "已接通",
callReconnecting: "正在重新连接…",
callAlone: "等待其他人加入…",
callNoAnswer: "无人接听",
callWasDeclined: "对方已拒绝",
callWasBusy: "对方正在通话中",
callElsewhere: "已在其他设备接听",
callOver: "通话已结束",
callLost: "连接已断开",
callFull: "通话人数已满：最多四人",
callFailed: "通话失败",
callNeedsClient: "此通话需要支持 LiveKit 的客户端，本页面不支持",
callOtherFirst: "请先结束当前通话",
callWith: "通话：{name}",
callControls: "通话控制",
callHangUp: "挂断",
callLeave: "离开通话",
callMute: "静音",
callUnmute: "取消静音",
callMutedOther: "麦克风已关闭",
callCameraOn: "打开摄像头",
callCameraOff: "关闭摄像头",
callShare: "共享屏幕",
callUnshare: "停止共享屏幕",
callPicture: "画中画",
callDevices: "麦克风、摄像头和扬声器",
callMicrophone: "麦克风",
callCamera: "摄像头",
callSpeaker: "扬声器",
callNoDevices: "未找到设备",
callMinimize: "缩小通话窗口",
callMaximize: "放大通话窗口",
callOwnPicture: "你的画面",
callQualityGood: "连接良好",
callQualityFair: "连接一般",
callQualityPoor: "连接较差",
callDenied: "浏览器未允许使用麦克风或摄像头。请在浏览器的网站设置中允许，然后重新呼叫。",
callMissing: "未找到麦克风或摄像头。",
callInUse: "麦克风或摄像头正被其他程序使用。",
callInsecure: "通话需要 HTTPS。请使用 https: 地址打开此页面。",
spoiler: "隐藏内容，点击显示",
pollAnonymous: "匿名投票",
pollPublic: "投票",
pollMultiple: "可多选",
pollVotes: "{n} 票",
pollClosed: "最终结果",
pollClose: "结束投票",
pollQuestion: "问题",
pollOption: "选项 {n}",
pollAddOption: "添加选项",
pollCreate: "新建投票",
statusQueued: "等待发送",
statusUploading: "上传中",
statusSending: "发送中",
statusSent: "已发送",
statusDelivered: "已送达",
statusRead: "已读",
statusFailed: "发送失败",
failedReason: "发送失败：{reason}",
spokenMessage: "{name}，{time}：{text}",
spokenNew: "来自 {name} 的新消息：{text}",
messageActions: "消息操作",
reactions: "回应",
messageList: "消息列表",
chatList: "聊天列表",
chatInfo: "详情",
noMessages: "还没有消息",
noNotesHint: "这里的内容只有你自己能看到，并同步到你的所有设备。",
noPublicChats: "还没有公开的群组或频道。",
noMessagesHint: "打个招呼吧！",
nameMark: "@{name}",
looksLike: "@{name} 不是你的联系人 {other}（@{account}），两者名称相似。",
looksLikeYou: "@{name} 的名称与你的相似。",
isDeleted: "该账号已删除。",
groupTitle: "名称",
groupAbout: "简介",
addMembers: "添加成员",
searchPeople: "姓名或 @用户名",
createGroup: "创建群组",
createChannel: "创建频道",
next: "下一步",
members: "成员",
searchMembers: "搜索成员",
roleOwner: "群主",
roleAdmin: "管理员",
roleMember: "成员",
roleReader: "读者",
roleGuest: "访客",
roleAdminHint: "可以修改群组并管理成员。",
roleMemberHint: "可以发言，并拥有权限设置允许的操作。",
roleReaderHint: "可以阅读和回应。",
roleGuestHint: "可以发言，但不能邀请、置顶或 @所有人。",
changeRole: "更改角色",
roleOf: "{name} 的角色",
transferOwner: "转让群主",
transferQuestion: "将群主转让给 {name}？你将成为管理员。",
newOwner: "指定新群主",
transferAndLeave: "将群主转让给 {name} 并退出？",
muteMember: "禁言…",
muteNamed: "禁言 {name}",
unmuteMember: "解除禁言",
mutedUntil: "禁言至 {time}",
mutedForever: "已禁言",
forTime: "{time}",
forGood: "永久",
removeMember: "移出",
removeQuestion: "将 {name} 移出？",
banMember: "移出并封禁…",
banNamed: "移出并封禁 {name}",
unban: "解除封禁",
bannedUntil: "封禁至 {time}",
bannedForever: "已封禁",
takeBackInvitation: "撤回邀请",
joinRequests: "申请",
joinRequest: "申请入群",
joinRequestsPush: "{n} 条入群申请",
joinRequestCount: { other: "{n} 条入群申请" },
invitedPeople: "已邀请",
bannedPeople: "已封禁",
noJoinRequests: "没有加入申请",
noInvited: "没有待接受的邀请",
noBanned: "没有被封禁的用户",
askedAt: "{time} 申请加入",
invitedBy: "由 {name} 邀请",
wereInvited: "已向 {users} 发出邀请。",
wereNotAdded: "无法添加：{users}",
addShort: "添加",
createdBy: "由 {name} 创建于 {time}",
createdAt: "创建于 {time}",
inviteLinks: "邀请链接",
newLink: "新建链接",
createLink: "创建链接",
noLinks: "还没有链接",
linkEnds: "有效期",
linkAfter: "{time}",
linkMost: "可加入人数",
peopleCount: { other: "{n} 人" },
linkRole: "加入后的角色",
linkApproval: "由管理员逐一批准",
linkHint: "在链接失效之前，任何人都可凭链接直接加入；需要批准时，可凭链接申请加入。",
linkForever: "长期有效",
linkBy: "由 {name} 创建",
linkEnded: "该邀请链接已失效。",
revokeQuestion: "撤销此链接？此后任何人都无法通过它加入。",
linkUses: "已使用 {used}/{n}",
linkUsed: "已使用 {n} 次",
linkExpires: "有效期至 {time}",
revoke: "撤销",
groupSettings: "权限",
rightsOfMembers: "成员权限",
whoWrite: "谁可以发言",
whoInvite: "谁可以邀请",
whoManage: "谁可以修改资料",
whoPin: "谁可以置顶",
whoMentionAll: "谁可以 @所有人",
everyMember: "所有成员",
onlyAdmins: "仅管理员",
joining: "加入方式",
whoJoins: "加入方式",
joinClosed: "仅限邀请",
joinApproval: "需要批准",
joinOpen: "公开加入",
listed: "在目录中展示",
historyFor: "新成员可见历史",
historyAll: "全部",
historyJoin: "加入之后",
slowMode: "慢速模式",
slowOn: "慢速模式：每 {time} 可发一条消息",
slowLeft: "慢速模式：{time}后可发送下一条消息",
showReceipts: "显示谁已读",
leave: "退出群组",
leaveChannel: "退出频道",
leaveChannelQuestion: "退出此频道？",
leaveLast: "你是最后一位成员，退出后将无人可以访问。",
deleteForAll: "为所有人删除",
deleteForAllQuestion: "为所有成员删除“{title}”？",
deleteForAllHint: "其中所有消息都将被清除，且无法恢复。",
deletedForAll: "已为所有成员删除。",
leaveQuestion: "退出此群组？",
leaveOwner: "你是群主。请选择在你退出后接任群主的成员。",
report: "举报",
reportReason: "请说明原因",
reportHint: "举报会发送给服务器管理员，他们可以看到被举报的内容。",
reportText: "发生了什么？（可选）",
reportNamed: "举报 {name}",
chooseReason: "请选择原因。",
reasonSpam: "广告或垃圾信息",
reasonAbuse: "辱骂或骚扰",
reasonViolence: "暴力或威胁",
reasonIllegal: "违法内容",
reasonImpersonation: "冒充他人",
reasonOther: "其他",
reported: "感谢反馈，举报已提交。",
block: "拉黑",
unblock: "取消拉黑",
blockQuestion: "拉黑 {name}？将不再显示其消息。",
addContact: "添加到通讯录",
removeContact: "从通讯录移除",
contactRequests: "好友请求",
sentRequests: "已发送的请求",
requestCount: { other: "{n} 条好友请求" },
sentAt: "发送于 {time}",
takeBack: "撤回",
takeBackRequest: "撤回请求",
requestTakenBack: "请求已撤回。",
requestAccepted: "{name} 已成为你的联系人。",
requestDeclined: "已拒绝 {name} 的请求。",
requestSent: "已向 {name} 发送请求。",
requestText: "附言（可选）",
requestPlaceholder: "介绍一下自己",
sendRequest: "发送请求",
addContactNamed: "将 {name} 添加为联系人",
asksForContact: "请求成为你的联系人",
newRequest: "{name} 请求成为你的联系人。",
nowContact: "{name} 接受了你的请求。",
removeContactQuestion: "将 {name} 从联系人中移除？",
accept: "接受",
decline: "拒绝",
alias: "备注名",
setAlias: "设置备注名",
changeAlias: "修改备注名",
aliasHint: "仅你可见，用来代替“{name}”。留空则移除。",
writeMessage: "发消息",
noContacts: "还没有联系人",
noContactsHint: "按姓名或 @用户名搜索。",
invited: "{name} 邀请你加入此群组",
join: "加入",
requested: "你的加入请求正在等待批准。",
askToJoin: "申请加入",
approvalHint: "需由管理员批准。",
isJoined: "已加入",
isRequested: "已申请",
group: "群组",
channel: "频道",
leftGroup: "你已不是此群组的成员。",
cannotWrite: "仅管理员可以在此发言。",
onlyReads: "你在此只能阅读，不能发言。",
silenced: "管理员已禁止你在此发言。",
silencedUntil: "管理员已禁止你发言，至 {time}。",
aloneInGroup: "群组里只有你一个人。",
aloneInChannel: "此频道还没有订阅者。",
profile: "个人资料",
statusText: "状态",
avatar: "头像",
changePicture: "更换头像",
removePicture: "移除图片",
notAPicture: "该文件不是图片。",
nickHint: "他人看到的名称，可以重复。",
language: "语言",
system: "跟随系统",
theme: "主题",
light: "浅色",
dark: "深色",
appearance: "外观",
notifications: "通知",
notificationsDesktop: "桌面通知",
notificationsSound: "声音",
notificationsPreview: "显示消息内容",
notificationsHTTPS: "通知需要 HTTPS。",
quietHours: "免打扰时段",
quietFrom: "从",
quietUntil: "至",
quietHint: "在这些时段内，所有设备都不发送通知。",
privacy: "隐私",
privacyLastSeen: "谁可以看到我的在线状态",
privacyAvatar: "谁可以看到我的头像",
privacyMessages: "谁可以与我开始聊天",
privacyAdd: "谁可以把我加入群组",
privacyFind: "谁可以搜索到我",
privacyReceipts: "已读回执",
privacyTyping: "显示我正在输入",
all: "全部",
everyone: "所有人",
contactsOnly: "我的联系人",
nobody: "没有人",
sessions: "登录设备",
thisDevice: "当前设备",
otherSessions: "其他设备",
noOtherSessions: "你仅在此设备上登录。",
signedInAt: "登录于 {time}",
sessionEnded: "{name} 已退出登录。",
othersEnded: "其他设备已全部退出登录。",
endOthersHint: "此设备保持登录。",
endSession: "退出",
endOtherSessions: "退出其他所有设备",
lastActive: "最近活动：{time}",
security: "安全",
changePassword: "修改密码",
passwordChanged: "密码已修改。",
passwordEnds: "其他设备将退出登录。",
recoveryCodes: "恢复码",
recoveryKept: "我已保存",
recoveryCodesHint: "用其中一个恢复码可以设置新密码，或在没有身份验证器时登录。每个只能使用一次，请妥善保存。",
blocked: "黑名单",
noBlocked: "没有被拉黑的账号。",
notAContact: "非联系人",
youBlocked: "你已拉黑 {name}。",
blockedHint: "你看不到被拉黑账号发来的消息，对方不会得知。",
account: "账号",
exportData: "导出我的数据",
exportHint: "包含你的资料、联系人、消息和文件。",
signOutHint: "存储在此设备上的消息将被清除。",
insecure: "未加密",
insecureHint: "此页面未通过 HTTPS 打开。浏览器因此不提供通知、离线启动、麦克风和剪贴板，且每个标签页各用一条连接。",
deleteAccount: "删除我的账号",
deleteAccountHint: "你的消息将被清空，并退出所有群组，且无法恢复。",
deleteAccountQuestion: "删除账号 {name}？你的消息会被清空，该用户名不会再次开放。",
accountDeleted: "你的账号已删除。",
deleteAccountDo: "删除账号",
enterSends: "按 Enter 发送",
filterKind: "类型",
filterFrom: "发送者",
filterChat: "聊天",
filterWhen: "时间",
anyKind: "所有类型",
anyTime: "任何时间",
lastWeek: "最近 7 天",
lastMonth: "最近 30 天",
lastYear: "最近一年",
anyPerson: "任何人",
here: "在此聊天中",
everywhere: "在所有聊天中",
resultCount: "{n}{more} 条结果",
quickJump: "跳转到聊天、联系人或消息",
offline: "你已离线，恢复连接后会自动发送消息。",
connecting: "正在连接…",
updateReady: "新版本已就绪。",
reload: "重新加载",
errorForbidden: "你没有权限执行此操作。",
errorNotFound: "内容已不可用。",
errorFileLost: "文件已丢失：{name}。请在新消息中重新选择。",
errorLimit: "已达到服务器上限。",
errorTooMany: "操作过于频繁，请稍候。",
errorTooManyUntil: "操作过于频繁，请在 {time}后重试。",
errorSilenced: "管理员已将你禁言，还剩 {time}。",
errorTooLong: "内容过长或过大。",
errorUnavailable: "服务器正在启动、停止或过载，请稍后重试。",
errorUnauthorized: "登录已失效，请重新登录。",
errorInsecure: "此功能需要 HTTPS。",
errorCancelled: "已取消。",
errorRefused: "服务器拒绝了此操作：{reason}",
errorServer: "服务器出错：{reason}",
errorTooLate: "已超过可操作的时间。",
errorTooLarge: "文件过大，上限为 {size}。",
errorOffline: "无法连接到服务器。",
errorStorage: "服务器暂时无法保存。",
errorConflict: "内容已被更改。",
undo: "撤销",
hidden1: "已为你删除消息。",
eventBeginChat: "聊天从这里开始",
eventCreateGroup: "{name} 创建了群组",
eventCreateChannel: "频道已创建",
eventJoin: "{users} 加入了群组",
eventAdd: "{name} 添加了 {users}",
eventLeave: "{name} 退出了群组",
eventRemove: "{name} 移除了 {users}",
eventBan: "{name} 封禁了 {users}",
eventBanUntil: "{name} 将 {users} 封禁至 {time}",
eventUnban: "{name} 解除了对 {users} 的封禁",
eventMute: "{name} 禁言了 {users}",
eventMuteUntil: "{name} 将 {users} 禁言至 {time}",
eventUnmute: "{name} 解除了 {users} 的禁言",
eventInvite: "{name} 邀请了 {users}",
eventRole: "{name} 将 {users} 设为{role}",
eventTitle: "{name} 将名称改为“{title}”",
eventPicture: "{name} 更换了头像",
eventAbout: "{name} 修改了简介",
eventSettings: "{name} 修改了设置",
eventExpire: "{name} 设置了消息在 {time}后消失",
eventKeep: "{name} 关闭了消息自动消失",
eventSlow: "{name} 开启了慢速模式：每 {time}一条消息",
eventSlowEnd: "{name} 关闭了慢速模式",
eventWriteAll: "{name} 允许所有成员发言",
eventWriteAdmins: "{name} 设置了仅管理员可发言",
eventPin: "{name} 置顶了一条消息",
eventUnpin: "{name} 取消了一条置顶消息",
eventReact: "{name} 用 {emoji} 回应",
eventOther: "{name} 更改了此聊天",
emojiSmileys: "表情",
emojiPeople: "人物",
emojiNature: "自然",
emojiFood: "食物",
emojiActivities: "活动",
emojiTravel: "旅行",
emojiObjects: "物品",
emojiSymbols: "符号",
mentionAll: "所有人",
mentionAllHint: "通知所有成员",
totp: "两步验证",
totpHint: "登录时除密码外，还需输入验证器应用中的验证码。",
totpSetUp: "设置验证器",
totpRemove: "移除验证器",
totpScan: "请用验证器应用扫描此二维码。",
totpType: "或在应用中输入此密钥：",
totpOpen: "在本设备上打开验证器",
totpOn: "两步验证已开启。",
totpRemoved: "两步验证已关闭。",
qrcode: "密钥的二维码",
wrongCode: "验证码不正确。每个验证码只能使用一次，30 秒内有效。",
confirm: "确认",
newRecoveryCodes: "生成新的恢复码",
folders: "分组",
newFolder: "新建分组",
folderName: "分组名称",
folderFilter: "包含的聊天",
folderChosen: "由我选择的聊天",
foldersHint: "分组显示在聊天列表上方，并同步到你的其他设备。",
folderLimit: "最多可以有 {n} 个分组。",
rename: "重命名",
deleteFolder: "删除分组",
deleteFolderQuestion: "删除分组“{name}”？其中的聊天会保留。",
albumOf: "相册，共 {n} 张",
newSignIn: "你的账号有新的登录：{name}",
notMember: "你已不在“{title}”中。",
unknownLink: "这个地址没有对应的聊天。",
dismissed: "本次登录已失效，请重新登录。",
dismissedClosed: "此账号已关闭。",
dismissedVersion: "页面版本过旧，请重新加载。",
searchLocal: "仅限本设备上的消息",
errorUnsupported: "此服务器不支持该功能。",
disappearsAt: "将于 {time} 消失",
inThread: "在话题中",
readCount: "{all} 人中 {n} 人已读",
firstVersion: "最初版本",
sendNow: "立即发送",
changeTime: "更改时间",
forwardAnonymous: "不显示发送者姓名",
pollCloses: "定时结束",
pollClosesAt: "投票结束时间",
pollEnds: "{time} 结束",
inHour: "一小时后",
tonight: "今晚",
tomorrowMorning: "明天早上",
timeZone: "按你的时区：{zone}。",
notifyAbout: "通知范围",
notifyAll: "所有消息",
notifyMentions: "仅提及我的消息",
notificationsDenied: "浏览器已禁止此页面的通知，请在浏览器设置中允许。",
notificationsPush: "页面关闭时也通知",
notificationsPushHint: "消息会为此浏览器加密。",
notificationsPushMissing: "此浏览器或服务器不支持推送。",
chooseOther: "选择…",
fromDay: "起始日期",
untilDay: "截止日期",
betweenDays: "指定日期",
lastDay: "最近 24 小时",
offlineShort: "你已离线",
};
return { zh };
})();
return $i18n_zh;
};

"""#))

    private static let _js_main_b60eaa504809125c_js = EmbeddedFile(path: "js/main-b60eaa504809125c.js", content: .text(#"""
const $parts = {}, $loaded = {};
const $later = (path) => $parts[path] ??= import(path).then((part) => part.default({ ...$all(), ...$loaded }), (error) => { delete $parts[path]; throw error; });
const $all = () => ({ $later, $loaded, $views_dom, $views_icons, $i18n_index, $i18n_format, $views_model, $views_menu, $views_auth, $views_preferences, $app, $core_applying, $core_receipts, $state_api, $state_lists, $state_window, $state_store, $state_index, $main, $core_requests });
const $views_dom = (() => {

const SVG = "http://www.w3.org/2000/svg";

function h(tag, properties = {}, ...children) {
return fill(document.createElement(tag), properties, children);
}

function svg(tag, properties = {}, ...children) {
return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
for (const [name, value] of Object.entries(properties)) {
if (value === null || value === undefined || value === false) continue;
if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
else if (name === "style") for (const [key, item] of Object.entries(value)) element.style.setProperty(key, String(item));
else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
else element.setAttribute(name, value === true ? "" : value);
}
append(element, children);
return element;
}

function append(element, children) {
for (const child of children.flat(2)) {
if (child !== null && child !== undefined && child !== false) element.append(child);
}
return element;
}

function replace(element, ...children) {
element.replaceChildren();
return append(element, children);
}

function remoteImage(src, properties = {}) {
let failures = 0;
const image = h("img", { alt: "", decoding: "async", src, ...properties, onerror: () => {
failures += 1;
if (failures === 1) setTimeout(() => { image.src = src; }, 3000);
else image.remove();
} });
return image;
}

let identifiers = 0;

function uniqueID(prefix) {
identifiers += 1;
return `${prefix}-${identifiers}`;
}

class Scope {
#ends = [];

add(end) {
if (end) this.#ends.push(end);
}

listen(target, type, listener, options) {
target.addEventListener(type, listener, options);
this.add(() => target.removeEventListener(type, listener, options));
}

close() {
for (const end of this.#ends.splice(0)) end();
}
}

function perFrame(action) {
let pending = 0;
return () => {
if (pending) return;
pending = requestAnimationFrame(() => {
pending = 0;
action();
});
};
}

function announce(text) {
const region = document.getElementById("live");
if (region) region.textContent = text;
}
return { h, svg, append, replace, remoteImage, uniqueID, Scope, perFrame, announce };
})();
const $views_icons = (() => {

const { svg } = $views_dom;

const PATHS = {
archive: ["M4 5h16v4H4zM5.5 9v10h13V9M10 13h4"],
at: ["M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0Zm0 0v1.5a2.5 2.5 0 0 0 5 0V12a8.5 8.5 0 1 0-3.5 6.87"],
block: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM6 6l12 12"],
back: ["M15 5l-7 7 7 7"],
bell: ["M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15L6 16ZM10 20.5h4"],
bellOff: ["M8 6.5A6 6 0 0 1 18 11v5M6 9.5V16l-1.5 2H17M10 20.5h4M4 4l16 16"],
bookmark: ["M7 4h10v16l-5-4-5 4V4Z"],
calendar: ["M5 6h14v14H5zM5 10h14M9 3.5V7M15 3.5V7"],
call: ["M6 4h3.5l1.5 4.5-2 1.5a11 11 0 0 0 5 5l1.5-2 4.5 1.5V18a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2Z"],
chatBubble: ["M5 5h14v10h-8l-4 4v-4H5z"],
check: ["M5 12.5l4.5 4.5L19 7.5"],
chevron: ["M9 6l6 6-6 6"],
clock: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 7.5V12l3 2"],
close: ["M6 6l12 12M18 6 6 18"],
copy: ["M9 9h10v11H9zM6 15H5V4h10v2"],
device: ["M4 5h16v10.5H4zM9 20h6M12 15.5V20"],
down: ["M6 9.5l6 6 6-6"],
download: ["M12 4v11M7 10.5l5 5 5-5M5 20h14"],
edit: ["M4.5 19.5l1-4L16 5l3 3L8.5 18.5l-4 1ZM14 7l3 3"],
eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z", "M12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z"],
file: ["M7 3.5h7l4 4v13H7zM14 3.5v4h4"],
forward: ["M13 6l6 5.5-6 5.5v-3.5c-4 0-6.5 1.2-8 4 .3-5 3-8.3 8-8.5V6Z"],
globe: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17"],
group: ["M9 11a3.25 3.25 0 1 0 0-6.5A3.25 3.25 0 0 0 9 11Z", "M3 19c.3-3.2 2.7-5 6-5s5.7 1.8 6 5", "M15.5 4.9a3 3 0 0 1 0 5.8M17.5 14.6c2 .6 3.2 2.1 3.5 4.4"],
info: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 11v5M12 8v.1"],
key: ["M14.5 9.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0ZM11 13v7.5M11 17h3"],
leave: ["M14 4.5H7A2.5 2.5 0 0 0 4.5 7v10A2.5 2.5 0 0 0 7 19.5h7", "M10.5 12H20M16.5 8.5 20 12l-3.5 3.5"],
link: ["M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1"],
lock: ["M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
maximize: ["M9 4H4v5M15 4h5v5M20 15v5h-5M4 15v5h5"],
megaphone: ["M4 10v4h3l8 4.5v-13L7 10H4ZM18 9.5c1.5 1 1.5 4 0 5"],
minimize: ["M4 9h5V4M20 9h-5V4M15 20v-5h5M9 20v-5H4"],
mirrorPicture: ["M4 5h16v14H4zM11.500 11.500h7v5.500h-7z"],
menu: ["M4 7h16M4 12h16M4 17h16"],
minus: ["M5 12h14"],
more: ["M12 5.5v.1M12 12v.1M12 18.5v.1"],
paperclip: ["M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4l8-8a3 3 0 0 1 4.3 4.3l-8 8a1.5 1.5 0 0 1-2.2-2.2L14.5 7"],
pause: ["M9 5.5v13M15 5.5v13"],
pen: ["M4.5 19.5l1-4L16 5l3 3L8.5 18.5l-4 1Z", "M13 20h7"],
person: ["M12 11.5a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5ZM5 20c.4-3.8 3.2-5.8 7-5.8s6.6 2 7 5.8"],
list: ["M9 6h11M9 12h11M9 18h11M4.5 6v.1M4.5 12v.1M4.5 18v.1"],
personAdd: ["M10 11.5a3.75 3.75 0 1 0 0-7.5 3.75 3.75 0 0 0 0 7.5ZM3 20c.4-3.8 3.2-5.8 7-5.8s6.6 2 7 5.8M18.5 7v6M15.5 10h6"],
picture: ["M5 5h14v14H5zM5 16l4-4 3.5 3.5L15 13l4 4M15 9v.1"],
pin: ["M9 4h6l-.5 6 3 3.5h-11l3-3.5L9 4ZM12 13.5V20"],
pinPlace: ["M12 21s-6.5-6-6.5-11a6.5 6.5 0 1 1 13 0c0 5-6.5 11-6.5 11ZM12 12a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z"],
play: ["M8 5.5v13l11-6.5L8 5.5Z"],
plus: ["M12 5v14M5 12h14"],
poll: ["M6 20V10M12 20V4M18 20v-7"],
quote: ["M5 7h14M5 12h14M5 17h8"],
record: ["M12 18a6 6 0 1 0 0-12 6 6 0 0 0 0 12Z"],
reply: ["M11 6l-6 5.5 6 5.5v-3.5c4 0 6.5 1.2 8 4-.3-5-3-8.3-8-8.5V6Z"],
screen: ["M3.5 5h17v11h-17zM9 20h6M12 13V8M9.500 10.500 12 8l2.500 2.500"],
hangUp: ["M3 14.500c5-5 13-5 18 0l-2.500 2.500-3.500-1.500v-2.500c-2-.600-4-.600-6 0v2.500l-3.500 1.500L3 14.500Z"],
search: ["M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16.2 16.2 20.5 20.5"],
select: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM8.5 12.5l2.5 2.5 4.5-5"],
send: ["M5 12h6.5M4.5 4.8c5 1.4 10.5 3.9 15.5 7.2-5 3.3-10.5 5.8-15.5 7.2L7 12 4.5 4.8Z"],
settings: ["M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z", "M19 12l2-1.2-1.8-3.4-2.2.8-1.7-1L15 5h-4l-.4 2.2-1.7 1-2.1-.8L5 10.8 7 12l-2 1.2 1.8 3.4 2.1-.8 1.7 1L11 19h4l.3-2.2 1.7-1 2.2.8 1.8-3.4L19 12Z"],
shield: ["M12 3.5l7 2.5v5.5c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6l7-2.5Z"],
smile: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM8.5 14c1.7 2.4 5.3 2.4 7 0M9 9.5v.1M15 9.5v.1"],
star: ["M12 4l2.4 5 5.6.700-4.1 3.8 1.1 5.5-5-2.8-5 2.8 1.1-5.5L4 9.7 9.6 9 12 4Z"],
stop: ["M7 7h10v10H7z"],
sun: ["M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4"],
thread: ["M5 5h14v10h-8l-4 4v-4H5zM9 9h6M9 11.5h4"],
timer: ["M12 6a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM12 9.5V13l2 1.5M10 3.5h4"],
trash: ["M5 7h14M9.5 7V4.5h5V7M7 7l.8 13h8.4L17 7M10.5 11v5.5M13.5 11v5.5"],
undo: ["M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11H9"],
up: ["M6 14.5l6-6 6 6"],
video: ["M4 7h11v10H4zM15 11l5-3v8l-5-3"],
videoOff: ["M8 7h7v7M4 7v10h11M15 11l5-3v8l-2-1M4 4l16 16"],
voiceOff: ["M15 11V6a3 3 0 0 0-5.800-1M9 9v2a3 3 0 0 0 4.500 2.600M6 11a6 6 0 0 0 9 5.200M18 11a6 6 0 0 1-.500 2.300M12 17v3.500M4 4l16 16"],
voice: ["M12 14a3 3 0 0 0 3-3V6a3 3 0 1 0-6 0v5a3 3 0 0 0 3 3ZM6 11a6 6 0 0 0 12 0M12 17v3.5"],
warning: ["M12 4l9 16H3L12 4ZM12 10v4.5M12 17.2v.1"],
};

function icon(name) {
return svg("svg", { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" }, (PATHS[name] ?? PATHS.info).map((d) => svg("path", { d })));
}

const TICKS = {
waiting: ["M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.3 1.5"],
sent: ["M3 8.5l3.3 3.2 6.5-7.2"],
delivered: ["M1 8.5 4.2 11.7 10.5 4.5", "M7.3 11.2l.6.500L14.5 4.5"],
read: ["M1 8.5 4.2 11.7 10.5 4.5", "M7.3 11.2l.6.500L14.5 4.5"],
failed: ["M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V9M8 11.5v.1"],
};

function ticks(status, label) {
const form = TICKS[status] ? status : "waiting";
return svg("svg", { viewBox: "0 0 16 16", class: `ticks ${form}`, role: "img", "aria-label": label }, TICKS[form].map((d) => svg("path", { d })));
}

const SWIFT = "M32 14C33.6 14 34.8 15.6 35.2 18.2C45 18.6 55 26 61 41C53 33 45 29.6 36 29.5C35.6 34 34.8 38.5 34 42.5L38.5 55L32 48L25.5 55L30 42.5C29.2 38.5 28.4 34 28 29.5C19 29.6 11 33 3 41C9 26 19 18.6 28.8 18.2C29.2 15.6 30.4 14 32 14Z";

function logo() {
return svg("svg", { viewBox: "0 0 64 64", class: "logo", "aria-hidden": "true" }, svg("path", { d: SWIFT, transform: "rotate(32 32 33)" }));
}
return { icon, ticks, logo };
})();
const $i18n_index = (() => {

const LOADERS = { en: async () => (await $later("./i18n-en-2e4c54e0de852af3.js")).en, zh: async () => (await $later("./i18n-zh-9991380d6e17d28d.js")).zh };
const LANGUAGE_NAMES = { en: "English", zh: "中文" };

let language = "en";
let texts = {};
let plurals = new Intl.PluralRules("en");
let tag = "en";

async function setLanguage(choice) {
const wanted = navigator.languages ?? [navigator.language];
const known = LOADERS[choice] ? choice : wanted.map((tag) => tag.split("-")[0].toLowerCase()).find((tag) => LOADERS[tag]) ?? "en";
for (const each of [known, ...Object.keys(LOADERS)]) {
try {
[texts, language] = [await LOADERS[each](), each];
break;
} catch (error) {
console.warn("language:", error);
}
}
tag = wanted.find((each) => each.toLowerCase().split("-")[0] === language) ?? (language === "zh" ? "zh-CN" : "en");
plurals = new Intl.PluralRules(tag);
document.documentElement.lang = language === "zh" ? "zh-CN" : tag;
}

const locale = () => tag;

function currentLanguage() {
return language;
}

function t(key, parameters = {}) {
let text = texts[key];
if (text === undefined) return key;
if (typeof text === "object") text = text[plurals.select(Number(parameters.n ?? 0))] ?? text.other;
return text.replace(/( ?)\{(\w+)\}( ?)/g, (whole, before, name, after) => {
const value = parameters[name];
if (value === undefined) return whole;
const shown = typeof value === "number" ? new Intl.NumberFormat(tag).format(value) : String(value);
return spacing(before, shown[0]) + shown + spacing(after, shown.at(-1));
});
}

function spacing(space, neighbour) {
return language === "zh" && /\p{Script=Han}/u.test(neighbour ?? "") ? "" : space;
}
return { LANGUAGE_NAMES, setLanguage, locale, currentLanguage, t };
})();
const $i18n_format = (() => {

const { locale, t } = $i18n_index;

const cache = new Map();

function formatter(kind, options) {
const key = `${locale()}|${kind.name}|${JSON.stringify(options)}`;
if (!cache.has(key)) cache.set(key, new kind(locale(), options));
return cache.get(key);
}

const LAST = 8.64e15;

const date = (at, options) => formatter(Intl.DateTimeFormat, options).format(Math.min(at, LAST));

function dayOf(at) {
const value = new Date(at);
return Math.round(Date.UTC(value.getFullYear(), value.getMonth(), value.getDate()) / 86_400_000);
}

const clock = (at) => date(at, { timeStyle: "short" });
const fullDate = (at) => date(at, { dateStyle: "full", timeStyle: "short" });
const shortDate = (at) => date(at, { dateStyle: "medium", timeStyle: "short" });

function dayTitle(at, now = Date.now()) {
const days = dayOf(now) - dayOf(at);
if (days === 0 || days === 1) {
const text = formatter(Intl.RelativeTimeFormat, { numeric: "auto" }).format(-days, "day");
return text[0].toLocaleUpperCase(locale()) + text.slice(1);
}
const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
return date(at, sameYear ? { weekday: "long", day: "numeric", month: "long" } : { day: "numeric", month: "long", year: "numeric" });
}

function listTime(at, now = Date.now()) {
const days = dayOf(now) - dayOf(at);
if (days <= 0) return clock(at);
if (days < 7) return date(at, { weekday: "short" });
const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
return date(at, sameYear ? { day: "numeric", month: "short" } : { day: "numeric", month: "numeric", year: "2-digit" });
}

function lastSeen(at, now = Date.now()) {
const minutes = Math.max(0, Math.round((now - at) / 60_000));
const relative = formatter(Intl.RelativeTimeFormat, { numeric: "auto" });
if (minutes < 1) return t("lastSeenJustNow");
if (minutes < 60) return t("lastSeen", { time: relative.format(-minutes, "minute") });
if (minutes < 24 * 60) return t("lastSeen", { time: relative.format(-Math.round(minutes / 60), "hour") });
return t("lastSeen", { time: listTime(at, now) });
}

function fileSize(bytes) {
const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
let value = bytes;
let index = 0;
while (value >= 1000 && index < 3) {
value /= 1000;
index += 1;
}
return formatter(Intl.NumberFormat, { style: "unit", unit: units[index], unitDisplay: index ? "short" : "long", maximumFractionDigits: value < 10 && index ? 1 : 0 }).format(value);
}

function duration(milliseconds) {
const seconds = Math.round(milliseconds / 1000);
const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
if (!parts[0]) parts.shift();
return parts.map((part, index) => (index ? String(part).padStart(2, "0") : String(part))).join(":");
}

function timeLeft(milliseconds) {
const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
const [size, unit] = [[86_400, "day"], [3_600, "hour"], [60, "minute"]].find(([length]) => seconds >= length) ?? [1, "second"];
return formatter(Intl.NumberFormat, { style: "unit", unit, unitDisplay: "narrow" }).format(Math.floor(seconds / size));
}

function span(seconds) {
const units = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]];
const [size, unit] = units.find(([length]) => seconds % length === 0 && seconds >= length) ?? [1, "second"];
return formatter(Intl.NumberFormat, { style: "unit", unit, unitDisplay: "long" }).format(seconds / size);
}

function roughSpan(seconds) {
const size = [86_400, 3_600, 60].find((each) => seconds >= 2 * each) ?? 1;
return span(Math.ceil(seconds / size) * size);
}

const number = (value) => formatter(Intl.NumberFormat, {}).format(value);
const percent = (value) => formatter(Intl.NumberFormat, { style: "percent" }).format(value);
const list = (items) => formatter(Intl.ListFormat, { type: "conjunction" }).format(items);
const compare = (one, other) => formatter(Intl.Collator, { numeric: true }).compare(one, other);
return { dayOf, clock, fullDate, shortDate, dayTitle, listTime, lastSeen, fileSize, duration, timeLeft, span, roughSpan, number, percent, list, compare };
})();
const $views_model = (() => {

const { t, currentLanguage } = $i18n_index;
const { compare, duration, list, roughSpan, shortDate, span } = $i18n_format;

function userName(state, name) {
if (!name) return t("appName");
const user = state.user(name);
return user?.alias || user?.nick || name;
}

function actorName(state, name) {
return name === state.account?.name ? t("you") : userName(state, name);
}

const byName = (state) => (one, other) => compare(userName(state, one.user.name), userName(state, other.user.name));

function headTitle(state, head) {
if (head.kind === "self") return t("savedMessages");
if (head.kind === "pair" && head.peer) return userName(state, head.peer.name);
return head.title || t("newGroup");
}

const isGroup = (head) => head.kind === "group" || head.kind === "channel";
const isMuted = (head, now = Date.now()) => (head.own?.muted_until ?? 0) > now;
const isAdmin = (head) => head.role === "owner" || head.role === "admin";

function permits(head, setting, fallback = "members") {
if (!isGroup(head)) return true;
if (isAdmin(head)) return true;
if (head.role === "reader" || head.role === "guest") return false;
return (head.settings?.[setting] ?? fallback) === "members";
}

const isSilenced = (head, now = Date.now()) => head.silenced_until > now;

function canWrite(head, now = Date.now()) {
if ((head.state && head.state !== "joined") || isSilenced(head, now)) return false;
if (!isGroup(head) || isAdmin(head)) return true;
return head.role !== "reader" && (head.settings?.write ?? (head.kind === "channel" ? "admins" : "members")) === "members";
}

const FILE_NAME = /^[^\s]+\.(png|jpe?g|gif|webp|avif|heic|mp4|mov|webm)$/i;
const KINDS = {
image: "picture", video: "video", audio: "audio", file: "file", location: "location", card: "contactCard",
poll: "poll", bundle: "bundle", encrypted: "encrypted", call: "call", hidden: "hidden",
};
const ICONS = { image: "picture", video: "video", audio: "voice", file: "file", location: "pinPlace", card: "person", poll: "poll", bundle: "forward", call: "call" };

const kindNames = () => ({ ...Object.fromEntries(Object.entries(KINDS).map(([kind, key]) => [kind, t(key)])), audio: t("voiceMessage") });

const NOTES = /^(conversation\.|member\.|pin$|react$|edit$|preview$|recall$|vote$|poll\.close|call\.update|self\.|contact\.|device\.)/;
const isNote = (event) => NOTES.test(event.kind);
const isSilent = (event) => /^(edit|preview$|recall|react|vote|poll\.close|call\.update|self\.|contact\.|device\.|hidden$)/.test(event.kind);

function gone(state, event) {
if (event.state === "recalled") return event.sender === state.account?.name ? t("recalledByYou") : t("recalled");
if (event.state === "expired") return t("expired");
if (event.state === "erased") return t("erased");
return null;
}

function customText({ kind, body, text = body?.text }) { return kind.startsWith("x.") && typeof text === "string" && text ? text : undefined; }

function eventText(state, event) {
const lost = gone(state, event);
if (lost) return lost;
if (isNote(event)) return noteText(state, event);
const body = event.body ?? { state: event.call, media: event.media, voice: event.voice, duration: event.duration };
const text = event.text ?? body.text;
switch (event.kind) {
case "text": return text ?? "";
case "call": return callText({ body, own: event.sender === state.account?.name });
case "audio": return body.voice ? t("lasting", { what: t("voiceMessage"), time: duration(body.duration ?? 0) }) : text || body.name || t("audio");
case "poll": return body.question ?? text ?? t("poll");
case "file": return body.name ?? text ?? t("file");
case "card": return `${t("contactCard")}${t("colon")}${body.nick ?? body.user ?? text ?? ""}`;
case "location": return body.name ?? text ?? t("location");
case "bundle": return body.title ?? text ?? t("bundle");
case "image": case "video": return text && !FILE_NAME.test(text) ? text : t(KINDS[event.kind]);
case "hidden": return "";
default: return KINDS[event.kind] ? text || t(KINDS[event.kind]) : customText(event) ?? t("unknownKind");
}
}

function callText(event) {
const { media, state: outcome, duration: length } = event.body ?? {};
if (outcome === "missed") return t(event.own ? "callOutgoingMissed" : "callMissed");
if (outcome === "declined") return t("callDeclined");
if (outcome === "busy") return t("callBusy");
const name = t(media === "video" ? "callVideo" : media ? "callAudio" : "call");
return outcome === "ended" && length ? t("lasting", { what: name, time: duration(length) }) : outcome === "ringing" ? `${name} · ${t("callRinging")}` : name;
}

const roleName = (role) => t({ owner: "roleOwner", admin: "roleAdmin", reader: "roleReader", guest: "roleGuest" }[role] ?? "roleMember");

const isForGood = (until, at = Date.now()) => until === undefined || until - at > 50 * 365 * 86_400_000;

function noteText(state, event) {
const body = event.body ?? {};
const name = actorName(state, event.sender);
const isAdded = body.via === "add" || (!body.via && event.users?.length > 0 && !event.users.includes(event.sender));
const begins = event.kind === "member.join" && !isAdded;
const users = list((body.users ?? event.users ?? []).map((user) => (user === state.account?.name && !begins ? t("youInside") : actorName(state, user))));
switch (event.kind) {
case "conversation.create": {
const texts = { pair: "eventBeginChat", self: "eventBeginChat", channel: "eventCreateChannel" };
return t(texts[body.kind] ?? "eventCreateGroup", { name });
}
case "conversation.set":
if (body.title) return t("eventTitle", { name, title: body.title });
if (body.avatar !== undefined) return t("eventPicture", { name });
if (body.about !== undefined) return t("eventAbout", { name });
return settingsText(name, body.settings ?? {});
case "member.join": return isAdded ? t("eventAdd", { name, users }) : t("eventJoin", { users: users || name });
case "member.leave": return t("eventLeave", { name });
case "member.remove": return t("eventRemove", { name, users });
case "member.ban": return isForGood(body.until, event.at) ? t("eventBan", { name, users }) : t("eventBanUntil", { name, users, time: shortDate(body.until) });
case "member.invite": return t("eventInvite", { name, users });
case "member.role": return t("eventRole", { name, users, role: currentLanguage() === "en" ? roleName(body.role).toLowerCase() : roleName(body.role) });
case "member.unban": return t("eventUnban", { name, users });
case "member.mute": {
if (!(body.until > (event.at ?? 0))) return t("eventUnmute", { name, users });
return isForGood(body.until, event.at) ? t("eventMute", { name, users }) : t("eventMuteUntil", { name, users, time: shortDate(body.until) });
}
case "pin": return t(body.remove ? "eventUnpin" : "eventPin", { name });
case "react": return t("eventReact", { name, emoji: body.key ?? "" });
default: return t("eventOther", { name });
}
}

function settingsText(name, settings) {
const [[key, value] = [], ...others] = Object.entries(settings);
if (others.length === 0) {
if (key === "expire") return value > 0 ? t("eventExpire", { name, time: span(value) }) : t("eventKeep", { name });
if (key === "slow") return value > 0 ? t("eventSlow", { name, time: span(value) }) : t("eventSlowEnd", { name });
if (key === "write") return t(value === "members" ? "eventWriteAll" : "eventWriteAdmins", { name });
}
return t("eventSettings", { name });
}

const ERRORS = {
forbidden: "errorForbidden", not_found: "errorNotFound", limit: "errorLimit", too_many: "errorTooMany", too_late: "errorTooLate", too_large: "errorTooLong",
offline: "errorOffline", storage: "errorStorage", unavailable: "errorUnavailable", conflict: "errorConflict", unsupported: "errorUnsupported",
call_backend: "callNeedsClient", media_denied: "callDenied", media_missing: "callMissing", media_busy: "callInUse", media_insecure: "callInsecure",
unauthorized: "errorUnauthorized", insecure: "errorInsecure", cancelled: "errorCancelled",
};

function errorText(error) {
const seconds = error?.retryAfter > 0 ? Math.ceil(error.retryAfter / 1000) : 0;
if (seconds && error.code === "forbidden") return t("errorSilenced", { time: roughSpan(seconds) });
if (seconds && error.code === "too_many") return t("errorTooManyUntil", { time: roughSpan(seconds) });
const key = ERRORS[error?.code];
if (key) return t(key);
return t(error?.code === "bad_request" ? "errorRefused" : "errorServer", { reason: error?.message || String(error) });
}

const withoutExpiry = new Set();

const refuseExpiry = (kind) => withoutExpiry.add(kind);

const mayExpire = (head) => !withoutExpiry.has(head.kind) && (!head.state || head.state === "joined") && (isGroup(head) ? isAdmin(head) : true);

function showsVoters(row, now) {
const { body, votes, mine } = row;
if (row.kind !== "poll" || body?.anonymous || !row.seq || !votes?.some(Boolean)) return false;
return mine?.votes?.length > 0 || Boolean(body.closed) || body.closes_at <= now;
}

function matches({ user, alias }, query) {
const names = `${alias ?? ""} ${user.nick ?? ""} ${user.name}`.toLocaleLowerCase();
return query.toLocaleLowerCase().replaceAll("@", "").split(/\s+/).every((word) => names.includes(word));
}
return { userName, actorName, byName, headTitle, isGroup, isMuted, isAdmin, permits, isSilenced, canWrite, ICONS, kindNames, isNote, isSilent, gone, customText, eventText, callText, roleName, isForGood, noteText, errorText, refuseExpiry, mayExpire, showsVoters, matches };
})();
const $views_menu = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;

let closeOpen = null;

function closeMenu(restore = false) {
closeOpen?.(restore);
}

function popover(anchor, box, { onclose } = {}) {
closeMenu();
const before = document.activeElement;
const host = anchor instanceof Element ? anchor.closest("dialog") ?? document.body : document.querySelector("dialog[open]") ?? document.body;
host.append(box);
place(anchor, box);
const pressed = (event) => {
if (!box.contains(event.target) && !(anchor instanceof Element && anchor.contains(event.target))) close(false);
};
const typed = (event) => {
if (event.key !== "Escape") return;
event.preventDefault();
event.stopPropagation();
close(true);
};
const resized = () => close();
const close = (restore) => {
if (closeOpen !== close) return;
closeOpen = null;
document.removeEventListener("pointerdown", pressed, true);
document.removeEventListener("keydown", typed, true);
removeEventListener("resize", resized);
box.remove();
if (anchor instanceof Element && anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "false");
if (restore) before?.focus({ preventScroll: true });
onclose?.();
};
closeOpen = close;
document.addEventListener("pointerdown", pressed, true);
document.addEventListener("keydown", typed, true);
addEventListener("resize", resized);
if (anchor instanceof Element && anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "true");
return close;
}

function place(anchor, box) {
const at = anchor instanceof Element ? anchor.getBoundingClientRect() : { left: anchor.x, right: anchor.x, top: anchor.y, bottom: anchor.y };
const { width, height } = box.getBoundingClientRect();
let left = anchor instanceof Element && at.left + width > innerWidth - 8 ? at.right - width : at.left;
left = Math.max(8, Math.min(left, innerWidth - width - 8));
const below = at.bottom + 4;
const top = below + height <= innerHeight - 8 ? below : Math.max(8, Math.min(at.top - height - 4, innerHeight - height - 8));
box.style.left = `${left}px`;
box.style.top = `${top}px`;
}

function openMenu(anchor, items, { label, quick } = {}) {
const box = h("div", { class: "menu", role: "menu", "aria-label": label });
const focus = (step, from = document.activeElement) => {
const all = [...box.querySelectorAll("[role^=menuitem]")];
const at = all.indexOf(from);
all[(at + step + all.length) % all.length]?.focus();
};
let close;
const run = (action) => () => {
close(true);
action();
};
if (quick) {
box.append(h("div", { class: "quick", role: "group" }, quick.items.map(({ face, label: name, checked }) =>
h("button", { type: "button", role: "menuitemcheckbox", "aria-checked": String(Boolean(checked)), "aria-label": name, tabindex: "-1", onclick: run(() => quick.run(face)) }, face))));
}
for (const item of items) {
if (item === null) {
if (box.lastElementChild && box.lastElementChild.tagName !== "HR") box.append(h("hr"));
} else if (item) {
box.append(h("button", {
type: "button", tabindex: "-1", class: item.danger ? "danger" : null, onclick: run(item.run),
role: item.checked === undefined ? "menuitem" : "menuitemradio", "aria-checked": item.checked === undefined ? null : String(item.checked),
}, icon(item.checked ? "check" : item.icon ?? "chevron"), h("span", { class: "grow" }, item.label), item.end));
}
}
if (box.lastElementChild?.tagName === "HR") box.lastElementChild.remove();
box.addEventListener("keydown", (event) => {
const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
if (step) focus(step);
else if (event.key === "Home") focus(1, null);
else if (event.key === "End") focus(0, box.querySelector("[role^=menuitem]")), focus(-1);
else if (event.key === "Tab") close(true);
else return;
event.preventDefault();
event.stopPropagation();
});
close = popover(anchor, box);
(box.querySelector("[role^=menuitem]:not([role=menuitemcheckbox])") ?? box.firstElementChild)?.focus({ preventScroll: true });
return close;
}
return { closeMenu, popover, openMenu };
})();
const $views_auth = (() => {

const { h, replace, uniqueID } = $views_dom;
const { icon, logo } = $views_icons;
const { errorText } = $views_model;
const { openMenu } = $views_menu;
const { LANGUAGE_NAMES, currentLanguage, t } = $i18n_index;

const LEADS = { signIn: "signInLead", register: "registerLead", recover: "recoverLead" };
const DISMISSED = { account_closed: "dismissedClosed", protocol_error: "dismissedVersion", version: "dismissedVersion" };
const FIELDS = { password: "password", new: "password" };
const ACTIONS = { signIn: "signIn", register: "register", recover: "recover" };

class AuthView {
constructor(app, mode = "signIn") {
this.app = app;
this.card = h("div", { class: "card" });
this.element = h("main", { class: "auth" }, this.card);
this.#show(mode);
this.end = app.state.subscribe("session", () => this.#learn());
const { notice } = app.state;
if (notice?.kind === "dismissed") this.error.textContent = t(DISMISSED[notice.reason] ?? "dismissed");
}

close() {
this.end();
this.element.remove();
}

get registration() {
return this.app.state.session.server?.registration ?? "open";
}

#learn() {
if (this.shown === this.registration) return;
const { name, password } = this.form.elements;
const [focused, typed] = [document.activeElement?.name, password.value];
this.#show(this.mode === "register" && this.registration === "closed" ? "signIn" : this.mode, name.value, focused);
this.form.elements.password.value = typed;
}

#show(mode, name = "", focused = null) {
this.mode = mode;
this.shown = this.registration;
this.error = h("p", { class: "form-error", role: "alert" });
this.codeField = null;
const hints = mode === "register";
const isNewPassword = mode !== "signIn";
this.fields = h("div", { class: "dialog-fields" });
this.button = h("button", { type: "submit", class: "button primary wide" }, t(ACTIONS[mode]));
const form = h("form", { id: "auth-form", novalidate: true, onsubmit: (event) => { event.preventDefault(); this.#submit(new FormData(form)); } },
field("name", t("userName"), { autocomplete: "username", value: name, autocapitalize: "none", spellcheck: "false", maxlength: "32", hint: hints ? t("userNameHint") : null }),
mode === "register" ? field("nick", t("nick"), { autocomplete: "nickname", maxlength: "50" }) : null,
mode === "recover" ? field("recovery", t("recoveryCode"), { autocomplete: "off", spellcheck: "false" }) : null,
mode === "register" && this.registration === "invitation" ? field("invitation", t("inviteCode"), { autocomplete: "off", spellcheck: "false", autocapitalize: "none", maxlength: "100", hint: t("inviteCodeHint") }) : null,
passwordField(mode === "recover" ? t("newPassword") : t("password"), isNewPassword ? "new-password" : "current-password", isNewPassword ? t("passwordHint") : null),
this.fields, this.error, this.button);
this.form = form;
const link = (target, label) => h("button", { type: "button", class: "link", onclick: () => this.#show(target, form.elements.name.value) }, label);
const language = h("button", { type: "button", class: "button quiet", "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => openMenu(language, Object.entries(LANGUAGE_NAMES).map(([key, label]) =>
({ label, checked: key === currentLanguage(), icon: "globe", run: () => { this.app.setPreference("language", key); } })), { label: t("language") }) }, icon("globe"), LANGUAGE_NAMES[currentLanguage()]);
const closed = this.registration === "closed";
const lead = mode === "signIn" && location.pathname.endsWith("/join") && location.hash ? "invitedLead" : LEADS[mode];
replace(this.card,
h("div", { class: "brand" }, h("span", { class: "brand-mark" }, logo()), h("h1", {}, t("appName")), h("p", { class: "muted" }, t(lead))),
form,
h("div", { class: "foot" }, mode === "signIn" ? [closed ? h("span", { class: "muted" }, t("registrationClosed")) : link("register", t("noAccount")), link("recover", t("forgot"))] : link("signIn", t("haveAccount"))),
language);
queueMicrotask(() => (form.elements[focused] ?? (form.elements.name.value ? form.elements.password : form.elements.name)).focus());
}

async #submit(data) {
const value = (name) => String(data.get(name) ?? "").trim();
const missing = [...this.form.elements].find((input) => input.tagName === "INPUT" && !input.value.trim() && input.name !== "nick");
if (missing) {
this.#fail(t("fieldRequired"), missing);
return;
}
const { state } = this.app;
const password = String(data.get("password"));
this.button.disabled = true;
this.error.textContent = "";
try {
if (this.mode === "register") this.app.showRecovery(await state.register({ name: value("name"), nick: value("nick") || undefined, password, invitation: value("invitation") || undefined }));
else if (this.mode === "recover") await state.recover({ name: value("name"), recovery: value("recovery"), password });
else await state.signIn({ name: value("name"), password, code: value("code") || undefined });
} catch (error) {
this.#refused(error);
} finally {
this.button.disabled = false;
}
}

#refused(error) {
const { elements } = this.form;
const extra = error?.field === "code" ? ["code", t("code")] : error?.field === "invitation" ? ["invitation", t("inviteCode")] : null;
if (extra && !elements[extra[0]]) {
this.#fail("");
this.fields.append(field(extra[0], extra[1], extra[0] === "code" ? { autocomplete: "one-time-code", autocapitalize: "none", hint: t("codeHint") } : { autocomplete: "off" }));
elements[extra[0]].focus();
return;
}
this.#fail(this.#reason(error), elements[FIELDS[error?.field] ?? error?.field] ?? elements.recovery ?? elements.password);
}

#reason(error) {
const isNew = this.mode === "register";
if (isNew && error?.code === "conflict") return t("nameTaken");
if (isNew && error?.code === "forbidden") return t(this.registration === "invitation" || this.form.elements.invitation ? "invitationWrong" : "registrationClosed");
if (error?.code === "unauthorized") return t({ signIn: error.field === "code" ? "wrongCode" : "wrongPassword", recover: "recoveryWrong" }[this.mode] ?? "errorUnauthorized");
if (error?.code === "bad_request" && error.field === "name") return t("nameRefused");
if (error?.code === "bad_request" && FIELDS[error.field] === "password") return t("passwordHint");
return errorText(error);
}

#fail(text, input) {
for (const field of this.form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
this.error.textContent = text;
input?.setAttribute("aria-invalid", "true");
input?.focus();
}
}

function field(name, label, { hint = null, ...extra } = {}) {
return h("label", { class: "field" }, label, h("input", { class: "input", name, type: "text", ...extra }), hint ? h("span", { class: "small muted" }, hint) : null);
}

function passwordField(label, autocomplete, hint) {
const input = h("input", { class: "input", name: "password", type: "password", autocomplete, maxlength: "200" });
const show = h("button", { type: "button", class: "icon-button", "aria-label": t("showPassword"), "aria-pressed": "false", onclick: () => {
const shown = input.type === "password";
input.type = shown ? "text" : "password";
show.setAttribute("aria-pressed", String(shown));
} }, icon("eye"));
const id = uniqueID("password");
input.id = id;
return h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "password-box" }, input, show), hint ? h("span", {}, hint) : null);
}
return { AuthView };
})();
const $views_preferences = (() => {

const KEY = "apus-preferences";
const SESSION = "apus-session";
const DEFAULTS = { language: "system", theme: "system", enterSends: true, desktop: true, push: false, sound: true, preview: true };

function loadPreferences() {
try {
return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
} catch {
return { ...DEFAULTS };
}
}

function savePreferences(preferences) {
try {
localStorage.setItem(KEY, JSON.stringify(preferences));
} catch {
}
}

function hadSession() {
try {
return localStorage.getItem(SESSION) !== null;
} catch {
return false;
}
}

function keepSession(hasSession) {
try {
if (hasSession) localStorage.setItem(SESSION, "1");
else localStorage.removeItem(SESSION);
} catch {
}
}
return { loadPreferences, savePreferences, hadSession, keepSession };
})();
const $app = (() => {

const { h } = $views_dom;
const { AuthView } = $views_auth;
const { logo } = $views_icons;
const { setLanguage, t } = $i18n_index;
const { hadSession, keepSession, loadPreferences, savePreferences } = $views_preferences;

class App {
inside = null;
#loading = null;
#hasFailed = false;

constructor(state) {
this.state = state;
this.preferences = loadPreferences();
state.notifying = this.preferences;
this.root = document.getElementById("app");
this.dark = matchMedia("(prefers-color-scheme: dark)");
this.dark.addEventListener("change", () => this.#applyTheme());
this.#applyTheme();
state.subscribe("session", () => this.#show());
this.#show();
}

get calls() { return this.inside?.calls; }

#show() {
const { phase } = this.state.session;
if (phase !== "starting") keepSession(phase === "signedIn");
const shown = phase === "starting" && !hadSession() ? "signedOut" : phase;
if (shown === this.phase) return;
this.phase = shown;
this.#render();
if (!this.inside) this.#load();
}

#render() {
this.view?.close();
if (this.phase === "signedIn" && this.inside) this.view = this.inside.makeShell();
else if (this.phase === "signedOut") this.view = new AuthView(this);
else this.view = this.#waiting();
this.root.replaceChildren(this.view.element);
this.view.start?.();
}

#waiting() {
const failure = this.#hasFailed ? [h("p", { role: "alert" }, t("errorOffline")), h("button", { type: "button", class: "button", onclick: () => this.#load() }, t("retry"))] : null;
return { element: h("div", { class: "empty" }, logo(), failure), close() { this.element.remove(); } };
}

async #load() {
if (this.#loading) return;
try {
this.#loading = $later("./views-inside-34c65eaec970d2e0.js");
this.inside = new (await this.#loading).Inside(this);
} catch (error) {
console.warn("page:", error);
this.#loading = null;
this.#hasFailed = true;
}
if (this.phase !== "signedOut") this.#render();
}

setPreference(name, value) {
this.preferences = { ...this.preferences, [name]: value };
savePreferences(this.preferences);
this.state.notifying = this.preferences;
if (name === "theme") this.#applyTheme();
if (name !== "language") return this.inside?.tellWords();
return setLanguage(value).then(() => { this.inside?.tellWords(); this.#render(); });
}

showRecovery(answer) {
if (this.view?.showRecovery) this.view.showRecovery(answer);
else this.recovery = answer?.recovery ?? null;
}

#applyTheme() {
const { theme } = this.preferences;
document.documentElement.dataset.theme = theme === "dark" || (theme === "system" && this.dark.matches) ? "dark" : "light";
}
}

async function start(makeState) {
const texts = setLanguage(loadPreferences().language);
if (!hadSession()) await texts;
const state = makeState();
await texts;
globalThis.chatApp = new App(state);
}
return { start };
})();
const $core_applying = (() => {

const MESSAGES = new Set(["text", "image", "audio", "video", "file", "location", "card", "call", "poll", "bundle", "encrypted"]);
const REPEATING = new Set(["edit", "preview"]);
const BLANK = new Set(["recalled", "expired", "erased"]);
const CALL_ENDS = new Set(["ended", "missed", "declined", "busy"]);

const isMessage = (event) => MESSAGES.has(event.kind) || (event.n !== undefined && event.kind !== "hidden");
const isBlank = (event) => BLANK.has(event.state);
const repeats = (event) => REPEATING.has(event.kind);

function applying(event, change, user) {
if (change.thread === event.seq && change.n !== undefined) return replied(event, change);
if (isMessage(change) || isBlank(event)) return event;
const isTarget = change.ref === event.seq;
if (!isTarget && !(change.kind === "recall" && repeats(event) && event.ref === change.ref)) return event;
const body = change.body ?? {};
switch (change.kind) {
case "edit":
return { ...event, body: body.body, state: "edited", edited_at: change.at };
case "preview": return event.kind === "text" ? { ...event, body: { ...event.body, preview: body.preview } } : event;
case "recall": return blanking(event, "recalled");
case "react": return reacted(event, body, change.sender === user);
case "vote": {
const after = change.votes ? { ...event, votes: change.votes } : event;
return change.sender === user ? { ...after, mine: { ...event.mine, votes: body.options ?? [] } } : after;
}
case "poll.close": return { ...event, body: { ...event.body, closed: true } };
case "call.update": return { ...event, body: { ...event.body, state: body.state, ...(body.duration !== undefined && { duration: body.duration }) } };
default: return event;
}
}

function blanking({ body: _, reactions: __, votes: ___, expires_at: ____, mine: _____, ...rest }, state) { return { ...rest, state }; }

const expiring = (event) => blanking(event, "expired");

function keeping(event, target) {
return repeats(event) && event.body && target && isBlank(target) ? blanking(event, target.state) : event;
}

function replied(event, { seq }) {
const { count = 0, seq: newest = 0 } = event.replies ?? {};
return seq > newest ? { ...event, replies: { count: count + 1, seq } } : event;
}

function reacted(event, { key, remove }, own) {
const reactions = (event.reactions ?? []).map((each) => (each.key === key ? { key, count: each.count + (remove ? -1 : 1) } : each));
if (!remove && !reactions.some((each) => each.key === key)) reactions.push({ key, count: 1 });
const after = { ...event, reactions: reactions.filter((each) => each.count > 0) };
if (!own) return after;
const before = (event.mine?.reactions ?? []).filter((each) => each !== key);
return { ...after, mine: { ...event.mine, reactions: remove ? before : [...before, key] } };
}

function preview(event) {
const body = event.body ?? {};
const text = body.text ?? body.question ?? body.title ?? body.name ?? body.nick;
return {
seq: event.seq, n: event.n, sender: event.sender, at: event.at, kind: event.kind, state: event.state,
text: typeof text === "string" ? [...text.slice(0, 400)].slice(0, 160).join("") : undefined, users: body.users,
...(event.kind === "call" && { call: body.state, media: body.media, duration: body.duration }),
...(event.kind === "audio" && { voice: body.voice, duration: body.duration }),
};
}

function advancing(head, events, user) {
let after = head;
for (const event of events) {
if (event.seq <= after.seq) continue;
after = { ...after, seq: event.seq };
const isTop = movesUp(event, head.kind);
if (isTop) after.at = Math.max(after.at ?? 0, event.at ?? 0);
if (event.kind === "call" || event.kind === "call.update") after.call = calling(after.call, event);
if (event.kind === "hidden") { if (event.n) after.n = event.n; continue; }
after.last = isTop ? preview(event) : relast(after.last, event);
if (event.kind === "pin") after.pins = pinned(after.pins, event);
if (event.n === undefined) continue;
const previous = after.n;
after.n = event.n;
if (event.sender !== user) {
after.unread = (after.unread ?? 0) + 1;
if (mentions(event, user)) after.mentions = (after.mentions ?? 0) + 1;
} else if ((after.read ?? 0) === previous) after.read = event.n;
}
return after;
}

function calling(call, { kind, seq, ref, body }) {
const isOver = CALL_ENDS.has(body?.state);
if (kind === "call") return isOver ? undefined : seq;
return isOver && ref === call ? undefined : call;
}

const movesUp = ({ n, kind, body }, conversation) => n !== undefined || /^(conversation\.(create|set)|member\.(invite|leave|remove))$/.test(kind)
|| (kind === "member.join" && (conversation !== "channel" || body?.via === "add"));

function relast(last, change) {
if (!last || change.ref !== last.seq || isBlank(last)) return last;
if (change.kind === "edit") return { ...last, state: "edited", text: change.body?.body?.text ?? last.text };
if (change.kind === "recall") return { ...last, state: "recalled", text: undefined };
if (change.kind === "call.update" && last.kind === "call") return { ...last, call: change.body?.state, duration: change.body?.duration };
return last;
}

function pinned(pins = [], event) {
const rest = pins.filter((seq) => seq !== event.ref);
return event.body?.remove ? rest : [event.ref, ...rest];
}

function mentions(event, user) {
return (event.body?.entities ?? []).some((each) => each.type === "all" || (each.type === "mention" && each.user === user));
}

function reading(head, read, unread, mentioned) {
if (read < (head.read ?? 0)) return head;
const left = unread ?? Math.max(0, Math.min(head.unread ?? 0, head.n - read));
const own = head.own?.marked_unread ? { ...head.own, marked_unread: undefined } : head.own;
return { ...head, read, unread: left, mentions: mentioned ?? (left === 0 ? 0 : head.mentions), own };
}
return { isMessage, isBlank, repeats, applying, expiring, keeping, preview, advancing, movesUp, mentions, reading };
})();
const $core_receipts = (() => {

const MOST = 100;

function showsReceipts({ kind, members = 0, settings, state }) {
if (state && state !== "joined") return false;
return kind === "pair" || (kind === "group" && members <= MOST && settings?.receipts !== false);
}

class Positions {
#all = new Map();

mark(user, { read = 0, received = 0 }) {
const before = this.#all.get(user);
const after = { read: Math.max(before?.read ?? 0, read), received: Math.max(before?.received ?? 0, received, read) };
if (before && after.read <= before.read && after.received <= before.received) return false;
this.#all.set(user, after);
return true;
}

keep(users) {
for (const user of this.#all.keys()) if (!users.has(user)) this.#all.delete(user);
}

status(n, others) {
const all = [...this.#all.values()];
if (others === 0 || all.length < others) return "sent";
return all.every(({ read }) => read >= n) ? "read" : all.every(({ received }) => received >= n) ? "delivered" : "sent";
}
}
return { showsReceipts, Positions };
})();
const $state_api = (() => {


class ChatState {
#listeners = new Map();
#dirty = new Set();

constructor(port) { this.port = port; }

subscribe(key, listener) {
if (!this.#listeners.has(key)) this.#listeners.set(key, new Set());
this.#listeners.get(key).add(listener);
return () => {
const listeners = this.#listeners.get(key);
listeners?.delete(listener);
if (listeners?.size === 0) this.#listeners.delete(key);
};
}

changed(...keys) {
if (this.#dirty.size === 0) queueMicrotask(() => this.#flush());
for (const key of keys) this.#dirty.add(key);
}

#flush() {
const keys = [...this.#dirty];
this.#dirty.clear();
for (const key of keys) {
for (const listener of [...(this.#listeners.get(key) ?? [])]) {
try { listener(key); } catch (error) { console.error(error); }
}
}
}


verb(verb, body = {}) { return this.port.request("verb", { verb, body }); }

signIn({ name, password, code }) { return this.port.request("login", { name, password, code }); }
register({ name, password, nick, invitation }) { return this.port.request("register", { name, password, nick, invitation }); }
recover({ name, recovery, password }) { return this.port.request("password", { name, recovery, new: password }); }
changePassword({ old, password }) { return this.port.request("password", { old, new: password }); }
recoveryCodes(password) { return this.port.request("recovery", { password }); }
makeTotp(password) { return this.port.request("totp", { password }); }
confirmTotp(code) { return this.port.request("totpConfirm", { code }); }
removeTotp(password) { return this.port.request("totpDelete", { password }); }
deleteAccount(password) { return this.port.request("deleteAccount", { password }); }
signOut({ force = false } = {}) { return this.port.request("logout", { force }); }
setProfile({ nick, avatar, status }) { return this.verb("profile.set", { nick, avatar, status }); }
setSettings(settings) { return this.verb("settings.set", { settings }); }
async sessions() { return (await this.verb("devices")).devices; }
async hasTotp() { return Boolean((await this.verb("devices")).authenticator); }
endSession(device) { return this.verb("device.remove", { device }); }
endOtherSessions() { return this.verb("device.remove", { others: true }); }
setPush(kind, data) { return this.verb("push.set", { kind, data }); }

send(conv, { kind = "text", body = {}, ref, thread, silent, file, poster } = {}) { return this.port.request("send", { conv, kind, body, ref, thread, silent, file, poster }); }
reply(conv, ref, message) { return this.send(conv, { ...message, ref }); }
retry(key) { return this.port.request("retry", { key }); }
discard(key) { return this.port.request("discard", { key }); }
cancelUpload(key) { return this.discard(key); }
edit(conv, ref, body) { return this.verb("edit", { conv, ref, body }); }
removePreview(conv, ref) { return this.verb("preview.remove", { conv, ref }); }
recall(conv, ref) { return this.verb("recall", { conv, ref }); }
hide(conv, seqs) { return this.verb("hide", { conv, seqs }); }
react(conv, ref, key, remove = false) { return this.verb("react", { conv, ref, key, remove: remove || undefined }); }
pin(conv, ref, remove = false) { return this.verb("pin", { conv, ref, remove: remove || undefined }); }
vote(conv, ref, options) { return this.verb("vote", { conv, ref, options }); }
closePoll(conv, ref) { return this.verb("poll.close", { conv, ref }); }
forward(conv, from, seqs, { bundle, title, anonymous, silent } = {}) { return this.verb("forward", { conv, from, seqs, bundle, title, anonymous, silent }); }
schedule(conv, message, at) { return this.verb("schedule", { conv, kind: "text", ...message, send_at: at }); }
async scheduled(conv) { return (await this.verb("scheduled", { conv })).scheduled; }
unschedule(of) { return this.verb("unschedule", { of }); }
readers(conv, seq, page) { return this.verb("readers", { conv, seq, page }); }
edits(conv, seq) { return this.port.request("edits", { conv, seq }); }
reactions(conv, ref, { key, page } = {}) { return this.verb("reactions", { conv, ref, key, page }); }
mark(conv, n) { return this.port.request("mark", { conv, read: n }); }
markUnread(conv, on = true) { return this.setOwn(conv, { marked_unread: on }); }
saveDraft(conv, text, ref) { return this.port.request("draft", { conv, text, ref }); }
sendTyping(conv, stopped = false) { return this.port.request("typing", { conv, stopped }); }
show(convs) { return this.port.request("show", { convs }); }
upload(file) { return this.port.request("upload", { file }); }

async openConversation(user) { return (await this.verb("conversation.open", { user })).head.conv; }
createGroup({ kind = "group", title, about, avatar, users, settings }) { return this.verb("conversation.create", { kind, title, about, avatar, users, settings }); }
info(conv) { return this.verb("conversation.info", { conv }); }
setConversation(conv, { title, about, avatar, settings }) { return this.verb("conversation.set", { conv, title, about, avatar, settings }); }
deleteConversation(conv, forAll = false) { return this.verb("conversation.delete", { conv, for_all: forAll || undefined }); }
directory(query, page) { return this.verb("directory", { query: query || undefined, page }); }
setOwn(conv, values) { return this.verb("own.set", { conv, ...values }); }
invite(conv, users) { return this.verb("member.add", { conv, users }); }
answerInvitation(conv, accept) { return this.verb("member.answer", { conv, accept }); }
join({ conv, link }) { return this.verb("member.join", { conv, link }); }
approve(conv, user, accept) { return this.verb("member.approve", { conv, user, accept }); }
leave(conv) { return this.verb("member.leave", { conv }); }
removeMembers(conv, users) { return this.verb("member.remove", { conv, users }); }
ban(conv, users, until) { return this.verb("member.ban", { conv, users, until }); }
unban(conv, users) { return this.verb("member.unban", { conv, users }); }
setRole(conv, users, role) { return this.verb("member.role", { conv, users, role }); }
muteMembers(conv, users, until) { return this.verb("member.mute", { conv, users, until }); }
async createLink(conv, { role, expires_at, uses, approval } = {}) { return (await this.verb("link.create", { conv, role, expires_at, uses, approval: approval || undefined })).link; }
async links(conv) { return (await this.verb("link.list", { conv })).links; }
revokeLink(conv, code) { return this.verb("link.revoke", { conv, code }); }
linkInfo(code) { return this.verb("link.info", { code }); }

startCall(conv, media) { return this.verb("call.start", { conv, media }); }
updateCall(conv, call, state, id) { return this.verb("call.update", { id, conv, call, state }); }
callServers() { return this.verb("call.servers"); }
signal(conv, call, to, device, data) { return this.verb("signal", { conv, call, to, device, data }); }
async callEvent(conv, seq) { return (await this.verb("history", { conv, around: seq, limit: 1 })).events.find((event) => event.seq === seq && event.kind === "call") ?? null; }

people(query, page) { return this.verb("people", { query, page }); }
requestContact(user, { text, alias } = {}) { return this.verb("contact.request", { user, text: text || undefined, alias: alias || undefined }); }
answerContact(user, accept) { return this.verb("contact.answer", { user, accept }); }
removeContact(user) { return this.verb("contact.remove", { user }); }
setAlias(user, alias) { return this.verb("contact.alias", { user, alias }); }
block(user) { return this.verb("block", { user }); }
unblock(user) { return this.verb("unblock", { user }); }
report({ conv, seqs, user, reason, text }) { return this.verb("report", { conv, seqs, user, reason, text: text || undefined }); }
}
return { ChatState };
})();
const $state_lists = (() => {

class MemberList {
#store;
#page;
#version = 0;
#latest;
members = [];
total = 0;
hasMore = false;
loading = true;

constructor(store, conv, query, state) {
this.#store = store;
this.conv = conv;
this.query = query.trim();
this.state = state;
this.ready = this.reload();
}

close() { this.#store.closed(this); }
loadMore() { return this.hasMore && !this.loading ? this.#begin(this.#page) : Promise.resolve(); }
reload() { return this.#begin(undefined); }

#begin(page) { return (this.#latest = this.#load(page, (this.#version += 1))); }

async #load(page, version) {
this.loading = true;
try {
const answer = await this.#store.verb("members", { conv: this.conv, query: this.query || undefined, state: this.state === "joined" ? undefined : this.state, page });
if (version !== this.#version) return await this.#latest;
this.members = page ? [...this.members, ...answer.members] : answer.members;
this.total = answer.total;
this.#page = answer.page;
this.hasMore = Boolean(answer.page);
this.error = null;
this.#store.remember(answer.members.map((each) => each.user));
this.#store.marked(answer.members.filter((each) => each.read).map((each) => ({ conv: this.conv, user: each.user.name, read: each.read })));
} catch (error) {
if (version !== this.#version) return await this.#latest;
this.error = error;
}
this.loading = false;
this.#store.changed(`members:${this.conv}`);
}
}

async function search(store, query, filters) {
const text = query.trim();
if (!text) return { hits: [], people: [], conversations: [], hasMore: false, more: async () => search(store, query, filters) };
const [found, people] = await Promise.all([
store.port.request("search", { query: text, ...filters }),
filters.conv ? { users: [] } : store.people(text).catch(() => ({ users: [] })),
]);
store.remember(people.users);
return hits(store, text, filters, found, people.users, []);
}

function hits(store, query, filters, found, people, before) {
const all = [...before, ...found.hits];
return {
hits: all, people, conversations: filters.conv ? [] : store.conversations({ query }), hasMore: Boolean(found.page), isLocal: Boolean(found.local),
more: async () => hits(store, query, filters, await store.port.request("search", { query, ...filters, page: found.page }), people, all),
};
}
return { MemberList, search };
})();
const $state_window = (() => {

const { applying, expiring, isBlank, isMessage, keeping } = $core_applying;

const PAGE = 80;
const MOST = 2000;
const LONGEST = 3_600_000;
const SILENT = /^(edit|preview$|recall|react|vote|poll\.close|call\.update|hidden|self\.|contact\.|device\.)/;

class ThreadWindow {
#store;
#events = [];
#rows = null;
#cache = new Map();
#low = 1;
#end = null;
#isAtEnd = true;
#isSeeking = false;
#pending = null;
#version = 0;
#isReplacing = false;
#arrived = [];
#timer = 0;
#root = null;
#isAtBeginning = false;

constructor(store, conv, thread) {
this.#store = store;
this.conv = conv;
this.thread = thread;
this.firstUnread = null;
this.loading = true;
this.ready = this.#open();
}

get #head() { return this.#store.conversation(this.conv); }
get #last() { return this.#events.at(-1)?.seq ?? this.#end ?? 0; }
get total() { return this.#head?.n ?? 0; }
get hasOlder() {
if (this.#events.length === 0) return false;
return this.thread === undefined ? this.#events[0].seq > Math.max(this.#low, this.#head?.min_seq ?? 1) : !this.#isAtBeginning;
}
get hasNewer() { return this.thread === undefined ? this.#last < (this.#head?.seq ?? 0) : !this.#isAtEnd; }
get offset() { return Math.max(0, (this.#events.find((event) => event.n !== undefined)?.n ?? 1) - 1); }
get rows() { return (this.#rows ??= this.#makeRows()); }

close() {
clearTimeout(this.#timer);
this.#store.closed(this);
}

loadOlder() { return this.#load(() => ({ before: this.#events[0].seq }), () => this.hasOlder, 1); }
loadNewer() { return this.#load(() => ({ from: this.#last + 1 }), () => this.hasNewer, -1); }

jumpToEnd() { return this.hasNewer ? this.#replace({}) : Promise.resolve(true); }

async jump(seq) {
if (seq !== this.thread && !this.#events.some((event) => event.seq === seq)) await this.#replace({ around: seq });
return this.rows.some((row) => row.seq === seq);
}


received(events) {
if (this.#isReplacing) this.#arrived.push(...events);
const isLoaded = this.#append(events);
if (!isLoaded && !this.loading) this.#replace({});
if (this.#events.length > MOST) this.#events.splice(0, this.#events.length - MOST);
this.invalidate();
}

#append(events) {
const user = this.#store.account?.name;
const isLoaded = this.#events.length > 0 || this.#end !== null;
for (const event of events) {
this.#change((each) => (event.seq > each.asOf && isTarget(each, event) ? { ...applying(each, event, user), asOf: event.seq } : each));
if (this.thread === undefined ? isLoaded && event.seq === this.#last + 1 : this.#isAtEnd && event.thread === this.thread && event.seq > this.#last) this.#events.push({ ...keeping(event, this.event(event.ref)), asOf: event.seq });
}
return isLoaded;
}

event(seq) { return seq === this.#root?.seq ? this.#root : this.#events.find((event) => event.seq === seq); }

hidden(seqs) {
const set = new Set(seqs);
this.#change((event) => (set.has(event.seq) ? { conv: event.conv, seq: event.seq, n: event.n, kind: "hidden", asOf: event.asOf } : event));
this.invalidate();
}

#change(change) {
this.#events.forEach((event, index) => { this.#events[index] = change(event); });
if (this.#root) this.#root = change(this.#root);
}

connected() {
this.#low = 1;
this.invalidate();
}

invalidate() {
this.#rows = null;
this.#store.changed(`thread:${this.conv}`);
}

reset() {
const middle = this.#isAtEnd ? undefined : this.#events[this.#events.length >> 1]?.seq;
this.ready = this.#events.length === 0 ? this.#open() : this.#replace({ around: middle });
}


async #open() {
const { read = 0, unread = 0, n = 0 } = this.#head ?? {};
this.#isSeeking = this.thread === undefined && unread > 0 && read < n;
await this.#replace({});
if (this.#isSeeking) await this.#seekUnread(read, n);
return this;
}

async #seekUnread(read, total) {
const user = this.#store.account?.name;
const first = () => this.#events.find((event) => event.n > read && event.sender && event.sender !== user)?.seq ?? null;
let around = (this.#head?.seq ?? 0) - (total - read - 1);
for (let attempt = 0; attempt < 8; attempt += 1) {
const numbered = this.#events.filter((event) => event.n !== undefined);
if (numbered.length === 0 || numbered[0].n <= read + 1 || !this.hasOlder) {
if (numbered.length === 0 || numbered.at(-1).n > read || !this.hasNewer) break;
around = this.#last + (read + 1 - numbered.at(-1).n);
} else if (attempt > 0) around = this.#events[0].seq - (numbered[0].n - read - 1);
if (!(await this.#replace({ around: Math.max(1, around) }))) break;
}
this.firstUnread = first();
this.#isSeeking = false;
this.loading = false;
this.invalidate();
}

async #replace(range) {
const version = (this.#version += 1);
this.loading = true;
this.#isReplacing = true;
this.#arrived = [];
try {
const page = this.thread === undefined ? await this.#request(range) : await this.#threadPage(range.around);
if (version !== this.#version) return false;
this.#low = this.#beginning(page) ?? 1;
this.#events = this.#merge(page);
this.#end = this.#events.length === 0 ? page.seq : null;
this.#isAtEnd = page.isAtEnd ?? this.#last >= page.seq;
this.#append(this.#arrived);
return true;
} catch (error) {
this.error = error;
return false;
} finally {
if (version === this.#version) { this.loading = this.#isSeeking; this.#isReplacing = false; this.invalidate(); }
}
}

#request(range) { return this.#store.port.request("history", { conv: this.conv, ...range, limit: PAGE, thread: this.thread }); }

async #threadPage(around) {
const beginning = this.#root ? null : this.#store.port.request("history", { conv: this.conv, around: this.thread, limit: 1 });
const [before, after] = await Promise.all([this.#request(around === undefined ? {} : { before: around }), around === undefined ? null : this.#request({ from: around })]);
const root = (await beginning)?.events.find((event) => event.seq === this.thread);
if (root) this.#root = this.#merge({ ...(await beginning), events: [root] })[0];
const page = { ...before, events: this.#replies(before) };
this.#isAtBeginning = page.events.length === 0;
if (after) Object.assign(page, { events: [...page.events, ...this.#replies(after)], mine: [...(page.mine ?? []), ...(after.mine ?? [])] });
return { ...page, isAtEnd: (page.events.at(-1)?.seq ?? 0) >= (this.#root?.replies?.seq ?? 0) };
}

#replies(page) { return page.events.filter((event) => event.thread === this.thread); }

#load(range, possible, side) {
if (this.#pending) return this.#pending;
if (!possible()) return Promise.resolve(false);
this.loading = true;
this.#pending = this.#extend(range, possible, side).finally(() => {
this.#pending = null;
this.loading = false;
this.invalidate();
});
return this.#pending;
}

async #extend(range, possible, side) {
const before = this.rows.length;
for (let pages = 0; pages < 10 && possible(); pages += 1) {
const version = this.#version;
let page;
try {
page = await this.#request(range());
} catch (error) { this.error = error; return false; }
if (version !== this.#version) return false;
this.#low = this.#beginning(page) ?? this.#low;
const events = this.#merge(this.thread === undefined ? page : { ...page, events: this.#replies(page) });
if (side > 0) {
const fresh = events.filter((event) => event.seq < this.#events[0].seq);
if (fresh.length === 0) { this.#low = this.#events[0].seq; this.#isAtBeginning = true; break; }
const all = [...fresh, ...this.#events];
if (all.length > MOST) this.#isAtEnd = false;
this.#events = all.slice(0, MOST);
} else {
const fresh = events.filter((event) => event.seq > this.#last);
if (this.thread === undefined ? fresh[0]?.seq !== this.#last + 1 : fresh.length === 0) { this.#isAtEnd ||= this.thread !== undefined; break; }
this.#events = [...this.#events, ...fresh].slice(-MOST);
this.#isAtEnd = this.#last >= (this.thread === undefined ? page.seq : this.#root?.replies?.seq ?? 0);
}
this.#rows = null;
if (this.rows.length !== before) break;
}
return true;
}

#beginning(page) {
return page.isPartial && this.#store.connection.state === "online" ? 1 : page.min_seq;
}

#merge(page) {
const mine = new Map((page.mine ?? []).map((each) => [each.seq, each]));
return page.events.map((event) => ({ ...event, ...(mine.has(event.seq) && { mine: mine.get(event.seq) }), asOf: event.asOf ?? page.seq }));
}

#makeRows() {
if (this.#isSeeking) return [];
this.#expire();
const events = this.#root ? [this.#root, ...this.#events] : this.#events;
const known = new Map(events.map((event) => [event.seq, event]));
const user = this.#store.account?.name;
const rows = [];
const keys = new Set();
for (const event of events) {
if (SILENT.test(event.kind)) continue;
const own = event.sender === user;
const key = own && event.id ? event.id : String(event.seq);
keys.add(key);
const quoted = isMessage(event) && event.ref !== undefined ? known.get(event.ref) ?? this.#store.quoted(this.conv, event.ref) : undefined;
rows.push(this.#row(key, event, own, own && isMessage(event) && !isBlank(event) ? this.#store.receipt(this.conv, event.n) : undefined, quoted));
}
for (const item of this.#store.waiting(this.conv)) {
if (keys.has(item.key) || !this.#isAtEnd || (this.thread !== undefined && item.thread !== this.thread)) continue;
keys.add(item.key);
rows.push(this.#row(item.key, item, true, item.status, item.ref === undefined ? undefined : known.get(item.ref) ?? this.#store.quoted(this.conv, item.ref)));
}
for (const key of this.#cache.keys()) if (!keys.has(key)) this.#cache.delete(key);
return rows;
}

#expire() {
const { now } = this.#store;
let next = Infinity;
this.#change((event) => {
if (event.expires_at <= now) return expiring(event);
if (event.expires_at < next) next = event.expires_at;
return event;
});
clearTimeout(this.#timer);
if (next < Infinity) this.#timer = setTimeout(() => this.invalidate(), Math.min(LONGEST, next - now + 1));
}

#row(key, event, own, status, quoted) {
const cached = this.#cache.get(key);
if (cached && cached.event === event && cached.status === status && cached.quoted === quoted) return cached.row;
const { asOf: _, ...row } = event;
Object.assign(row, { key, own, ...(status && { status }) });
if (quoted !== undefined) row.quote = quoted && { ...quoted, key: String(quoted.seq), own: quoted.sender === this.#store.account?.name };
this.#cache.set(key, { event, status, quoted, row });
return row;
}
}

function isTarget(event, change) {
if (change.n !== undefined) return change.thread === event.seq;
return change.ref === event.seq || (change.kind === "recall" && change.ref !== undefined && change.ref === event.ref);
}
return { ThreadWindow };
})();
const $state_store = (() => {

const { advancing, expiring, reading } = $core_applying;
const { Positions, showsReceipts } = $core_receipts;
const { ChatState } = $state_api;
const { MemberList, search } = $state_lists;
const { ThreadWindow } = $state_window;

const TYPING = 6000;
const GROUPS = { people: (head) => head.kind === "pair", groups: (head) => head.kind === "group", channels: (head) => head.kind === "channel", unread: (head) => isUnread(head) };

const isUnread = (head) => (head.unread ?? 0) > 0 || Boolean(head.own?.marked_unread);

const release = (item) => { if (item?.localURL) setTimeout(() => URL.revokeObjectURL(item.localURL), 60_000); };

class Store extends ChatState {
session = { phase: "starting", user: null, self: null, limits: {}, server: {} };
connection = { state: "connecting", since: Date.now() };
settings = {};
shown = [];
notice = null;
describe = (head, event) => ({ title: head.title ?? this.user(event.sender).nick ?? event.sender, body: event.body?.text ?? "" });
onevents = null;
onread = null;
tellWords = null;
oncall = null;
onsignal = null;
#heads = new Map();
#users = new Map();
#wanted = new Set();
#contacts = new Map();
#outbox = new Map();
#typing = new Map();
#positions = new Map();
#counted = new Map();
#quotes = new Map();
#windows = new Map();
#early = new Map();
#lists = new Set();
#sorted = null;

constructor(port) {
super(port);
port.listen((event) => this.#received(event));
this.started = this.#start();
}

get now() { return Date.now() + (this.session.clock ?? 0); }
get account() { return this.session.user; }
get unread() { return [...this.#heads.values()].reduce((sum, head) => sum + ((head.own?.muted_until ?? 0) > Date.now() || head.own?.archived ? 0 : head.unread ?? 0), 0); }
get unsent() { return [...this.#outbox.values()].reduce((sum, items) => sum + items.length, 0); }
get uploads() { return [...this.#outbox.values()].flat().filter((item) => item.status === "uploading").map(({ key, conv, body, progress }) => ({ key, conv, name: body?.name, progress })); }

conversations({ filter = "all", query = "" } = {}) {
this.#sorted ??= [...this.#heads.values()].filter((head) => !["left", "removed", "banned"].includes(head.state)).sort(order);
const word = query.trim().toLocaleLowerCase();
return this.#sorted.filter((head) => {
if (filter === "everything") return true;
if (filter === "archived" ? !head.own?.archived : head.own?.archived && !word) return false;
if (!this.#isIn(head, filter)) return false;
return !word || this.#title(head).includes(word);
});
}

#isIn(head, filter) {
if (filter === "all" || filter === "archived") return true;
if (!filter.startsWith("folder:")) return GROUPS[filter](head);
const name = filter.slice("folder:".length);
const folder = this.settings.folders?.find((each) => each.name === name);
return folder?.filter ? GROUPS[folder.filter]?.(head) ?? false : head.own?.folders?.includes(name) ?? false;
}

conversation(id) { return this.#heads.get(id) ?? null; }
draft(id) { return this.#heads.get(id)?.draft ?? null; }
typing(id) { return [...(this.#typing.get(id)?.keys() ?? [])]; }
contacts(state = "friend") { return [...this.#contacts.values()].filter((each) => each.state === state); }
get contactIndex() { return this.#contacts; }
contact(name) { return this.#contacts.get(name) ?? null; }

user(name) {
const user = this.#users.get(name);
if (user) return user;
if (name && this.session.phase === "signedIn") this.#want(name);
return { name };
}

async people(query, page) {
const answer = await super.people(query, page);
this.remember(answer.users);
return answer;
}

async refresh(name) {
const { users } = await this.verb("users", { names: [name] }).catch(() => ({ users: [] }));
this.remember(users);
return this.user(name);
}

presence(name) {
const user = this.#users.get(name);
return user?.online === undefined ? null : { online: user.online, last_seen: user.last_seen };
}

thread(id, { thread } = {}) {
if (thread !== undefined) {
const window = new ThreadWindow(this, id, thread);
this.#lists.add(window);
return window;
}
if (!this.#windows.has(id)) this.#windows.set(id, new ThreadWindow(this, id));
return this.#windows.get(id);
}

event(id, seq) {
const event = this.#windows.get(id)?.event(seq) ?? this.quoted(id, seq);
return event ? { ...event, key: String(seq), own: event.sender === this.account?.name } : null;
}

members(id, query = "", state = "joined") {
const list = new MemberList(this, id, query, state);
this.#lists.add(list);
return list;
}

search(query, filters = {}) { return search(this, query, filters); }
async media(conv, { kinds, query = "", page }) {
const { hits, page: next, indexed_at: indexedAt } = await this.port.request("search", { conv, kinds, query: query || undefined, page });
return { events: hits.map(({ event }) => event), page: next, isBehind: indexedAt !== undefined };
}

blobURL(blob, size, of = {}) {
const query = new URLSearchParams({ ...(size && { size }), ...of }).toString();
return this.port.blobURL?.(blob, size) ?? `/api/blobs/${encodeURIComponent(blob)}${query && `?${query}`}`;
}

mark(conv, n) {
this.onread?.(conv);
return super.mark(conv, n);
}

show(convs) {
this.shown = convs;
return super.show(convs);
}

async hide(conv, seqs) {
const answer = await super.hide(conv, seqs);
this.#windows.get(conv)?.hidden(seqs);
return answer;
}

async schedule(conv, message, at) {
const answer = await super.schedule(conv, message, at);
this.changed("scheduled");
return answer;
}

async unschedule(of) {
const answer = await super.unschedule(of);
this.changed("scheduled");
return answer;
}

async approve(conv, user, accept) {
const answer = await super.approve(conv, user, accept);
this.changed("joinRequests");
return answer;
}


closed(part) {
this.#lists.delete(part);
if (this.#windows.get(part.conv) === part) this.#windows.delete(part.conv);
}

waiting(conv) { return this.#outbox.get(conv) ?? []; }

receipt(conv, n) {
const head = this.#heads.get(conv);
if (!head || !showsReceipts(head)) return "sent";
this.#countReaders(head);
return this.#positions.get(conv)?.status(n, head.kind === "pair" ? 1 : (head.members ?? 1) - 1) ?? "sent";
}

async #countReaders({ conv, members_version: version = 0 }) {
if (this.#counted.get(conv) === version || this.connection.state !== "online") return;
this.#counted.set(conv, version);
try {
const users = new Set();
const marks = [];
for (let page; ;) {
const answer = await this.verb("members", { conv, page });
for (const { user, read, received, state } of answer.members) {
if (state && state !== "joined") continue;
users.add(user.name);
if (read !== undefined) marks.push({ conv, user: user.name, read, received });
}
this.remember(answer.members.map((each) => each.user));
if (!(page = answer.page)) break;
}
this.#positions.get(conv)?.keep(users);
this.marked(marks);
} catch {
this.#counted.delete(conv);
}
}

quoted(conv, seq) {
const key = `${conv} ${seq}`;
if (!this.#quotes.has(key)) {
this.#quotes.set(key, undefined);
this.port.request("history", { conv, around: seq, limit: 1 }).then(
(page) => this.#quotes.set(key, page.events.find((event) => event.seq === seq && event.kind !== "hidden") ?? null),
() => this.#quotes.delete(key),
).then(() => {
for (const window of this.#windowsOf(conv)) window.invalidate();
this.changed(`thread:${conv}`);
});
}
const event = this.#quotes.get(key);
if (event?.expires_at <= this.now) this.#quotes.set(key, expiring(event));
return this.#quotes.get(key);
}

remember(users) {
let isNew = false;
for (const user of users) {
const before = this.#users.get(user.name);
const alias = this.#contacts.get(user.name)?.alias;
const after = { ...user, alias };
if (before && JSON.stringify(before) === JSON.stringify(after)) continue;
this.#users.set(user.name, after);
isNew = true;
}
if (isNew) this.changed("users", "presence");
}

marked(marks) {
for (const { conv, user, read, received } of marks) {
if (user === this.account?.name) {
if (read !== undefined) this.#update(conv, (head) => reading(head, read));
continue;
}
if (!this.#positions.has(conv)) this.#positions.set(conv, new Positions());
if (!this.#positions.get(conv).mark(user, { read, received })) continue;
for (const window of this.#windowsOf(conv)) window.invalidate();
}
}


async #start() {
const snapshot = await this.port.request("start");
this.#adopt(snapshot);
return this;
}

#adopt({ session, connection, heads = [], users = [], contacts = [], settings, outbox = [], marks = [] }) {
const another = session.user?.name !== this.account?.name;
this.session = session;
this.connection = connection;
if (another) {
for (const item of [...this.#outbox.values()].flat()) release(item);
for (const each of [this.#heads, this.#users, this.#contacts, this.#outbox, this.#typing, this.#positions, this.#counted, this.#quotes, this.#windows, this.#early]) each.clear();
}
if (session.user) this.remember([session.user]);
this.#setContacts(contacts);
this.remember(users);
this.#heads.clear();
this.#setHeads(heads);
this.settings = settings ?? {};
for (const item of outbox) this.#queued(item);
this.marked(marks);
for (const window of this.#windows.values()) window.reset();
this.changed("session", "connection", "conversations", "contacts", "settings", "uploads");
}

#received(event) {
switch (event.type) {
case "snapshot": return this.#adopt(event);
case "session":
this.session = event.session;
if (this.account && this.session.phase === "signedIn" && this.notice?.kind === "dismissed") this.notice = null;
return this.changed("session");
case "connection":
this.connection = event.connection;
this.#counted.clear();
if (event.connection.state !== "online") for (const [conv, users] of [...this.#typing]) for (const user of [...users.keys()]) this.#types({ conv, user, stopped: true });
if (event.connection.state === "online") for (const window of this.#windows.values()) window.connected();
return this.changed("connection");
case "heads": return this.#setHeads(event.heads ?? [], event.gone ?? []);
case "events": return this.#events(event.conv, event.events);
case "gap": for (const window of this.#windowsOf(event.conv)) window.reset(); return;
case "hidden": return this.#windows.get(event.conv)?.hidden(event.seqs);
case "outbox": this.#queued(event.item, event.removed); return;
case "marks": return this.marked(event.marks);
case "users": return this.remember(event.users);
case "presence": return this.remember(event.users.map(({ user, online, last_seen }) => ({ ...this.#users.get(user), name: user, online, ...(last_seen && { last_seen }) })));
case "typing": return this.#types(event);
case "contacts": this.#setContacts(event.contacts); return;
case "settings": this.settings = event.settings; return this.changed("settings");
case "signal": return this.onsignal?.(event);
case "leading": return;
case "notice": this.notice = event.notice; return this.changed("notice");
}
}

#setHeads(heads, gone = []) {
for (const conv of gone) {
this.#heads.delete(conv);
this.changed(`conversation:${conv}`, `thread:${conv}`);
}
this.remember(heads.flatMap((head) => (head.peer ? [head.peer] : [])));
for (const head of heads) {
const early = this.#early.get(head.conv);
if (early) queueMicrotask(() => this.#tell(head.conv, early));
this.#early.delete(head.conv);
const version = this.#heads.get(head.conv)?.members_version;
this.#put(head);
if (version !== undefined && version !== head.members_version) {
for (const list of this.#lists) if (list.conv === head.conv) list.reload?.();
}
}
this.#sorted = null;
this.changed("conversations");
}

#put(head) {
const items = this.#outbox.get(head.conv) ?? [];
const { draft: _, typing: __, failed: ___, pending: ____, ...plain } = head;
const failed = items.filter((item) => item.status === "failed").length;
const typing = this.typing(head.conv);
this.#heads.set(head.conv, {
...plain, ...(head.own?.draft && { draft: head.own.draft }), ...(typing.length && { typing }),
...(failed && { failed }), ...(items.length > failed && { pending: items.length - failed }),
});
this.#sorted = null;
this.changed("conversations", `conversation:${head.conv}`);
}

#update(conv, change) {
const head = this.#heads.get(conv);
if (head) this.#put(change(head));
}

#events(conv, events) {
this.#update(conv, (head) => advancing(head, events, this.account?.name));
for (const event of events) {
for (const user of [event.sender, ...(event.body?.users ?? [])]) if (user) this.#types({ conv, user, stopped: true });
if (event.ref !== undefined) this.#quotes.delete(`${conv} ${event.ref}`);
}
for (const window of this.#windowsOf(conv)) window.received(events);
if (this.#heads.has(conv)) this.#tell(conv, events);
else this.#early.set(conv, [...(this.#early.get(conv) ?? []), ...events]);
}

#tell(conv, events) {
this.onevents?.(conv, events);
this.oncall?.(conv, events);
}

#windowsOf(conv) { return [...this.#lists, this.#windows.get(conv)].filter((each) => each instanceof ThreadWindow && each.conv === conv); }

#queued(item, removed) {
const items = this.waiting(item.conv).filter((each) => each.key !== item.key);
const before = this.waiting(item.conv).find((each) => each.key === item.key);
if (removed) release(before);
else {
const localURL = before?.localURL ?? (item.file ? URL.createObjectURL(item.file) : undefined);
items.push({ ...item, id: item.key, sender: this.account?.name, local: true, ...(localURL && { localURL }) });
items.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1));
}
this.#outbox.set(item.conv, items);
this.#update(item.conv, (head) => head);
for (const window of this.#windowsOf(item.conv)) window.invalidate();
this.changed("uploads");
}

#setContacts(contacts) {
this.#contacts = new Map(contacts.map((each) => [each.user.name, each]));
for (const [name, user] of this.#users) this.#users.set(name, { ...user, alias: this.#contacts.get(name)?.alias });
this.remember(contacts.map((each) => each.user));
this.changed("contacts", "users");
}

#types({ conv, user, stopped }) {
const all = this.#typing.get(conv) ?? new Map();
if (stopped && !all.has(user)) return;
clearTimeout(all.get(user));
if (stopped) all.delete(user);
else all.set(user, setTimeout(() => this.#types({ conv, user, stopped: true }), TYPING));
this.#typing.set(conv, all);
this.#update(conv, (head) => head);
this.changed(`typing:${conv}`);
}

#want(name) {
if (this.#wanted.has(name)) return;
this.#wanted.add(name);
if (this.#wanted.size === 1) queueMicrotask(() => this.#learnUsers());
}

async #learnUsers() {
while (this.#wanted.size > 0) {
const names = [...this.#wanted].slice(0, 100);
try {
const { users } = await this.verb("users", { names });
this.remember([...names.filter((each) => !users.some(({ name }) => name === each)).map((each) => ({ name: each })), ...users]);
for (const window of this.#windows.values()) window.invalidate();
} catch {
return this.#wanted.clear();
}
for (const name of names) this.#wanted.delete(name);
}
}

#title(head) {
const peer = head.peer && head.kind === "pair" ? this.user(head.peer.name) : null;
return [head.title, peer?.alias, peer?.nick, peer && `@${peer.name}`].filter(Boolean).join("\n").toLocaleLowerCase();
}
}

const shownAt = ({ kind, at, last, draft }) => Math.max(last?.at ?? (kind === "self" ? 0 : at), draft?.at ?? 0);

function order(a, b) {
return (b.own?.pinned_at ?? 0) - (a.own?.pinned_at ?? 0) || shownAt(b) - shownAt(a) || (a.conv < b.conv ? -1 : 1);
}
return { Store };
})();
const $state_index = (() => {

const { Store } = $state_store;

function createState() {
const store = new Store(makePort());
addEventListener("pagehide", () => store.show([]));
return store;
}

function makePort() {
if (!navigator.locks || !globalThis.Worker || !globalThis.BroadcastChannel) return new PagePort();
try {
return new WorkerPort();
} catch (error) {
console.warn("No worker:", error);
return new PagePort();
}
}

class WorkerPort {
#worker = new Worker(new URL("./core-worker-d55552f449ad1b99.js", import.meta.url), { type: "module" });
#requests = new Map();
#serial = 0;
#listener = () => {};
#instead = null;
leads = false;

constructor() {
let hasStarted = false;
this.#worker.onmessage = ({ data }) => {
hasStarted = true;
if (data.event) return data.event.type === "leading" ? (this.leads = true) : this.#listener(data.event);
const request = this.#requests.get(data.id);
this.#requests.delete(data.id);
if (data.error) request?.reject(Object.assign(new Error(data.error.message), data.error));
else request?.resolve(data.value);
};
this.#worker.onerror = (event) => (hasStarted ? console.error(event.message) : this.#replace(event.message));
this.#watchNetwork();
}

#replace(message) {
console.warn("No worker:", message);
this.#instead = new PagePort();
this.#instead.listen(this.#listener);
this.leads = true;
for (const { name, body, resolve, reject } of this.#requests.values()) this.#instead.request(name, body).then(resolve, reject);
this.#requests.clear();
}

#watchNetwork() {
for (const event of ["online", "offline"]) addEventListener(event, () => this.request("network", { event }));
document.addEventListener("visibilitychange", () => {
if (document.visibilityState === "visible") this.request("network", { event: "shown" });
});
}

listen(listener) { this.#listener = listener; }

request(name, body) {
if (this.#instead) return this.#instead.request(name, body);
return new Promise((resolve, reject) => {
this.#serial += 1;
this.#requests.set(this.#serial, { name, body, resolve, reject });
this.#worker.postMessage({ id: this.#serial, name, body });
});
}
}

class PagePort {
leads = true;
#listener = () => {};
#core = null;

listen(listener) { this.#listener = listener; }
async request(name, body) { return (await this.#load()).request(name, body, "page"); }

async #load() {
try {
return await (this.#core ??= $later("./core-core-085f8f227a2e6486.js").then(({ Core }) => new Core((event) => this.#listener(event))));
} catch (error) {
this.#core = null;
throw Object.assign(new Error(error.message, { cause: error }), { code: "offline" });
}
}
}
return { createState };
})();
const $main = (() => {

const { start } = $app;
const { createState } = $state_index;

start(createState);
return {  };
})();
const $core_requests = (() => {

const RETRYABLE = new Set(["too_many", "storage", "unavailable", "internal", "offline"]);

class Refusal extends Error {
constructor({ code, message = code, field, retry_after: retryAfter, ...more }) {
super(message);
Object.assign(this, { code, field, retryAfter, ...more });
}

get isTemporary() { return RETRYABLE.has(this.code); }

get plain() { return JSON.parse(JSON.stringify({ ...this, message: this.message })); }
}

function refusal(error) {
if (error instanceof Refusal) return error;
if (error?.data?.code) return new Refusal(error.data);
if (["ack_timeout", "disconnected", "transport", "timeout"].includes(error?.code) || error instanceof TypeError) return new Refusal({ code: "offline", message: "There is no connection." });
return new Refusal({ code: "internal", message: String(error?.message ?? error) });
}

async function post(path, body = {}) {
return answer(await reach(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "Chat-Session": "cookie" } }));
}

const get = async (path) => answer(await reach(path));

async function reach(path, options = {}) {
try {
return await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
} catch (error) {
throw refusal(error);
}
}

async function answer(response) {
const body = await response.json().catch(() => ({}));
if (response.ok) return body;
throw new Refusal(body.error ?? { code: response.status >= 500 ? "unavailable" : response.status === 401 ? "unauthorized" : "internal", message: response.statusText });
}

let newest = 0n;

function uuid() {
const bytes = crypto.getRandomValues(new Uint8Array(16));
const first = (BigInt(Date.now()) << 12n) | BigInt(((bytes[6] & 0x07) << 8) | bytes[7]);
newest = first > newest ? first : newest + 1n;
new DataView(bytes.buffer).setBigUint64(0, ((newest >> 12n) << 16n) | 0x7000n | (newest & 0xfffn));
bytes[8] = (bytes[8] & 0x3f) | 0x80;
const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function deviceDescription() {
const agent = navigator.userAgent;
const browser = /Edg\//.test(agent) ? "Edge" : /Firefox\//.test(agent) ? "Firefox" : /Chrom/.test(agent) ? "Chrome" : /Safari\//.test(agent) ? "Safari" : "Browser";
const system = /Android/.test(agent) ? "Android" : /iPhone|iPad/.test(agent) ? "iOS" : /Mac OS/.test(agent) ? "macOS" : /Windows/.test(agent) ? "Windows" : /Linux/.test(agent) ? "Linux" : "";
return { name: system ? `${browser} on ${system}` : browser, platform: "web" };
}
return { Refusal, refusal, post, get, reach, answer, uuid, deviceDescription };
})();

"""#))

    private static let _js_test_af4dddca0b9caee9_js = EmbeddedFile(path: "js/test-af4dddca0b9caee9.js", content: .text(#"""
const $socketio_backoff = (() => {

class Backoff {
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
return { Backoff };
})();
const $socketio_emitter = (() => {

class Emitter {
#listeners = new Map();

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
return { Emitter };
})();
const $socketio_errors = (() => {
class SocketError extends Error {
constructor(code, message, data) {
super(message);
this.name = "SocketError";
this.code = code;
this.data = data;
}
}
return { SocketError };
})();
const $socketio_enginepackets = (() => {

const PacketType = Object.freeze({
open: "0", close: "1", ping: "2", pong: "3", message: "4", upgrade: "5", noop: "6",
});

const SEPARATOR = "\x1e";
const isType = (digit) => digit >= "0" && digit <= "6" && digit.length === 1;

function encodeText(packet) {
return packet.data instanceof Uint8Array ? "b" + toBase64(packet.data) : packet.type + (packet.data ?? "");
}

function encodeFrame(packet) {
return packet.data instanceof Uint8Array ? packet.data : packet.type + (packet.data ?? "");
}

function decodeFrame(frame) {
if (typeof frame !== "string") return { type: PacketType.message, data: new Uint8Array(frame) };
if (!isType(frame.charAt(0))) throw new Error("a frame that is not an Engine.IO packet");
return { type: frame.charAt(0), data: frame.slice(1) };
}

function encodePayload(packets) {
return packets.map(encodeText).join(SEPARATOR);
}

function decodePayload(body) {
return body.split(SEPARATOR).map((element) =>
element.charAt(0) === "b" ? { type: PacketType.message, data: fromBase64(element.slice(1)) } : decodeFrame(element));
}

function payloadSize(packet) {
if (packet.data instanceof Uint8Array) return 2 + Math.ceil(packet.data.length / 3) * 4;
return 2 + (packet.data ?? "").length * 3;
}

function toBase64(bytes) {
let binary = "";
for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
return btoa(binary);
}

function fromBase64(text) {
const binary = atob(text);
const bytes = new Uint8Array(binary.length);
for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
return bytes;
}
return { PacketType, encodeText, encodeFrame, decodeFrame, encodePayload, decodePayload, payloadSize };
})();
const $socketio_engine = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType, decodeFrame, decodePayload, encodeFrame, encodePayload, encodeText, payloadSize } = $socketio_enginepackets;

const PROBE_TIMEOUT = 10_000;
const MAXIMUM_PACKETS_A_POST = 64;

class Engine extends Emitter {
#url; #transports; #query; #trace; #timeout;
#state = "idle";
#transport;
#handshake = null;
#queue = [];
#socket = null;
#abort = new AbortController();
#poll = null;
#post = null;
#paused = false;
#openTimer = 0;
#heartbeatTimer = 0;
#lastPing = 0;

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

send(data) {
if (this.#state !== "open") return;
this.#enqueue({ type: PacketType.message, data });
}

close() {
if (this.#state === "closed") return;
if (this.#state === "open") {
this.#queue.push({ type: PacketType.close, data: "" });
if (this.#transport === "polling") this.#lastPost().finally(() => this.#abort.abort());
else this.#writeFrames();
}
this.#closed("forced close", null, { abort: this.#transport !== "polling" || this.#state !== "open" });
}

checkHeartbeat() {
if (this.#state !== "open" || !this.#handshake.pingInterval) return;
const silence = performance.now() - this.#lastPing;
if (silence > this.#handshake.pingInterval + this.#handshake.pingTimeout) {
this.#closed("ping timeout", new SocketError("timeout", "The server sent no ping in time."));
}
}


#received(packet) {
this.#trace?.({ direction: "in", transport: this.#transport, data: packet.data instanceof Uint8Array ? packet.data : encodeText(packet) });
switch (packet.type) {
case PacketType.open: return this.#opened(packet.data);
case PacketType.ping:
this.#armHeartbeat();
return this.#enqueue({ type: PacketType.pong, data: packet.data });
case PacketType.message: return this.fire("message", packet.data);
case PacketType.close: return this.#closed("transport close");
default: return;
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
if (!pingInterval) return;
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
if (this.#post) await this.#post;
await fetch(this.#address("polling"), { method: "POST", body, headers: { "Content-Type": "text/plain;charset=UTF-8" }, keepalive: body.length < 60_000 })
.catch(() => {});
}

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
socket.onerror = () => {};
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


#probe() {
const socket = this.#makeSocket();
const trace = (direction, data) => this.#trace?.({ direction, transport: "websocket", data });
const failed = () => {
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

function refusal(status, text) {
try {
const { message } = JSON.parse(text);
if (message) return `${message} (HTTP ${status})`;
} catch { /* not JSON */ }
return `The server answered HTTP ${status}.`;
}
return { Engine };
})();
const $socketio_packets = (() => {

const PacketType = Object.freeze({ connect: 0, disconnect: 1, event: 2, ack: 3, connectError: 4, binaryEvent: 5, binaryAck: 6 });

const MAXIMUM_ATTACHMENTS = 64;
const RESERVED = new Set(["connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener"]);

function encodePacket({ type, namespace = "/", data, id }) {
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

class PacketDecoder {
#pending = null;

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
validate(packet);
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
return { PacketType, encodePacket, PacketDecoder };
})();
const $socketio_socket = (() => {

const { Emitter } = $socketio_emitter;
const { SocketError } = $socketio_errors;
const { PacketType } = $socketio_packets;

class Socket {
#manager; #auth;
#local = new Emitter();
#remote = new Emitter();
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
this.wanted = false;
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

emit(name, ...values) {
if (!this.connected) return false;
this.#manager.send({ type: PacketType.event, namespace: this.namespace, data: [name, ...values] });
return true;
}

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

engineClosed(reason, error) {
if (this.wanted && !this.connected) {
this.#local.fire("connect_error", error ?? new SocketError("transport", reason));
}
this.#ended(reason);
}

giveUp() { this.wanted = false; }

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
if (!waiting) return;
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
return { Socket };
})();
const $socketio_manager = (() => {

const { Backoff } = $socketio_backoff;
const { Emitter } = $socketio_emitter;
const { Engine } = $socketio_engine;
const { PacketDecoder, encodePacket } = $socketio_packets;
const { Socket } = $socketio_socket;

class SocketManager extends Emitter {
#options;
#sockets = new Map();
#engine = null;
#decoder = null;
#backoff;
#retryTimer = 0;
#state = { name: "closed", attempt: 0 };

constructor(url, options = {}) {
super();
this.#options = { path: "/socket.io/", transports: ["polling", "websocket"], timeout: 20_000, reconnection: {}, ...options };
this.url = new URL(this.#options.path, url);
this.#backoff = new Backoff(this.#options.reconnection || {});
globalThis.addEventListener?.("online", () => this.retryNow());
globalThis.addEventListener?.("offline", () => this.drop());
globalThis.document?.addEventListener("visibilitychange", () => {
if (document.visibilityState === "visible") this.resume();
});
}

get state() { return this.#state; }
get timeout() { return this.#options.timeout; }
get transport() { return this.#engine?.isOpen ? this.#engine.transport : null; }
get engineID() { return this.#engine?.id ?? null; }

socket(namespace = "/", options = {}) {
if (!this.#sockets.has(namespace)) this.#sockets.set(namespace, new Socket(this, namespace, options));
return this.#sockets.get(namespace);
}

retryNow() {
if (this.#state.name !== "waiting") return;
clearTimeout(this.#retryTimer);
this.#open();
}

resume() {
this.#engine?.checkHeartbeat();
this.retryNow();
}


join(socket) {
if (this.#engine?.isOpen) socket.engineOpened();
else if (this.#state.name === "closed") this.#open();
else this.retryNow();
}

left() {
if ([...this.#sockets.values()].some((socket) => socket.wanted)) return;
clearTimeout(this.#retryTimer);
this.#backoff.reset();
this.#engine?.close();
this.#engine = null;
this.#change({ name: "closed", attempt: 0 });
}

send(packet) {
for (const frame of encodePacket(packet)) this.#engine?.send(frame);
}

joined() {
this.#backoff.reset();
}

drop() {
this.#engine?.close();
}


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

return { SocketManager };
})();
const $socketio_index = (() => {

const { SocketManager } = $socketio_manager;
const { SocketError } = $socketio_errors;
const { Emitter } = $socketio_emitter;
return { SocketManager, SocketError, Emitter };
})();
const $views_dom = (() => {

const SVG = "http://www.w3.org/2000/svg";

function h(tag, properties = {}, ...children) {
return fill(document.createElement(tag), properties, children);
}

function svg(tag, properties = {}, ...children) {
return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
for (const [name, value] of Object.entries(properties)) {
if (value === null || value === undefined || value === false) continue;
if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
else if (name === "style") for (const [key, item] of Object.entries(value)) element.style.setProperty(key, String(item));
else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
else element.setAttribute(name, value === true ? "" : value);
}
append(element, children);
return element;
}

function append(element, children) {
for (const child of children.flat(2)) {
if (child !== null && child !== undefined && child !== false) element.append(child);
}
return element;
}

function replace(element, ...children) {
element.replaceChildren();
return append(element, children);
}

function remoteImage(src, properties = {}) {
let failures = 0;
const image = h("img", { alt: "", decoding: "async", src, ...properties, onerror: () => {
failures += 1;
if (failures === 1) setTimeout(() => { image.src = src; }, 3000);
else image.remove();
} });
return image;
}

let identifiers = 0;

function uniqueID(prefix) {
identifiers += 1;
return `${prefix}-${identifiers}`;
}

class Scope {
#ends = [];

add(end) {
if (end) this.#ends.push(end);
}

listen(target, type, listener, options) {
target.addEventListener(type, listener, options);
this.add(() => target.removeEventListener(type, listener, options));
}

close() {
for (const end of this.#ends.splice(0)) end();
}
}

function perFrame(action) {
let pending = 0;
return () => {
if (pending) return;
pending = requestAnimationFrame(() => {
pending = 0;
action();
});
};
}

function announce(text) {
const region = document.getElementById("live");
if (region) region.textContent = text;
}
return { h, svg, append, replace, remoteImage, uniqueID, Scope, perFrame, announce };
})();
const $test = (() => {

const { SocketManager } = $socketio_index;
const { h } = $views_dom;

const KEPT = 1000;
const LONGEST = 2000;
const ACK_TIMEOUT = 10_000;
const ENGINE = { 0: "open", 1: "close", 2: "ping", 3: "pong", 5: "upgrade", 6: "noop" };
const SOCKET = { 0: "CONNECT", 1: "DISCONNECT", 2: "EVENT", 3: "ACK", 4: "CONNECT_ERROR", 5: "BINARY_EVENT", 6: "BINARY_ACK" };
const TRANSPORTS = { auto: ["polling", "websocket"], polling: ["polling"], websocket: ["websocket"] };

const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
applyTheme();
dark.addEventListener("change", applyTheme);

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
return {  };
})();

"""#))

    private static let _js_views_inside_34c65eaec970d2e0_js = EmbeddedFile(path: "js/views-inside-34c65eaec970d2e0.js", content: .text(#"""
export default ({ $later, $loaded, $views_dom, $views_icons, $i18n_index, $i18n_format, $views_model, $views_menu, $core_applying, $core_receipts, $core_requests }) => {
const $views_avatar = (() => {

const { h, remoteImage } = $views_dom;
const { icon } = $views_icons;
const { t } = $i18n_index;

const STEPS = 17;

function hashOf(id) {
let hash = 2166136261;
for (const character of id) hash = Math.imul(hash ^ character.codePointAt(0), 16777619);
hash ^= hash >>> 15;
hash = Math.imul(hash, 2246822507);
return (hash ^ (hash >>> 13)) >>> 0;
}

const hueOf = (id) => Math.round((hashOf(id) % STEPS) * (360 / STEPS) + 12);

const shadeOf = (id) => ((hashOf(id) >>> 16) % 2 ? -0.1 : 0);

function initials(name, person = true) {
const text = name.trim();
if (/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)) {
const characters = [...text.replace(/\s/g, "")];
return characters.slice(person && (characters.length === 4 || characters.length === 3) ? -2 : 0).slice(0, 2).join("");
}
const words = text.split(/[\s._-]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
return letters.map((word) => [...word].find((letter) => /[\p{L}\p{N}]/u.test(letter)).toLocaleUpperCase()).join("") || "?";
}

function frame(id, { size = "", square = false, online = false, src = null }, ...content) {
const image = src ? remoteImage(src, { loading: "lazy" }) : null;
return h("span", { class: `avatar${size ? ` size-${size}` : ""}${square ? " square" : ""}`, "aria-hidden": "true", style: { "--h": hueOf(id), "--shade": shadeOf(id) } },
content, image, online ? h("span", { class: "presence-dot", title: t("online") }) : null);
}

function userAvatar(state, user, options = {}) {
const src = user.avatar ? state.blobURL(user.avatar, 128, { user: user.name }) : null;
return frame(user.name, { src, online: user.online, ...options }, initials(user.nick || user.name));
}

function headAvatar(state, head, options = {}) {
if (head.kind === "pair" && head.peer) return userAvatar(state, state.user(head.peer.name) ?? head.peer, options);
if (head.kind === "self") return frame("self", options, icon("bookmark"));
const src = head.avatar ? state.blobURL(head.avatar, 128, head.link ? { link: head.link } : { conv: head.conv }) : null;
return frame(head.conv, { src, square: true, ...options }, initials(head.title ?? "?", false));
}
return { hueOf, initials, userAvatar, headAvatar };
})();
const $views_toast = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { errorText } = $views_model;
const { t } = $i18n_index;

let box = null;

function toast(text, { action = null, seconds = 5, role = "status" } = {}) {
box ??= h("div", { class: "toasts", popover: "manual" });
raise();
const line = h("div", { class: "toast", role }, h("span", { class: "grow" }, text));
const remove = () => line.remove();
if (action) line.append(h("button", { type: "button", onclick: () => { remove(); action.run(); } }, action.label));
box.append(line);
while (box.children.length > 3) box.firstElementChild.remove();
if (seconds === null) line.append(h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: remove }, icon("close")));
else setTimeout(remove, seconds * 1000);
return remove;
}

function clearToasts() { box?.replaceChildren(); }

function raise() {
const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
const parent = dialog ?? document.body;
if (box.parentNode !== parent) {
parent.append(box);
dialog?.addEventListener("close", raise, { once: true });
}
if (box.showPopover && !box.matches(":popover-open")) box.showPopover();
}

async function attempt(promise) {
try {
return await promise;
} catch (error) {
console.error(error);
toast(errorText(error), { role: "alert" });
return undefined;
}
}
return { toast, clearToasts, attempt };
})();
const $views_callring = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { headTitle, userName } = $views_model;
const { attempt } = $views_toast;
const { t } = $i18n_index;

function showRing(state, center, call) {
const head = state.conversation(call.conv);
const caller = state.user(call.caller);
const name = userName(state, call.caller);
const title = call.isGroup ? t("callIncomingGroup", { name, group: headTitle(state, head) }) : t(call.media === "video" ? "callIncomingVideo" : "callIncoming", { name });
const isVideo = call.media === "video";
const answer = (video) => attempt(center.answer({ video }));
const element = h("section", { class: "call-ring", role: "alertdialog", "aria-label": title, "aria-describedby": "call-ring-text", tabindex: "-1" },
userAvatar(state, caller, { size: "m" }),
h("div", { class: "lines grow" }, h("strong", { class: "ellipsis" }, call.isGroup ? headTitle(state, head) : name), h("span", { id: "call-ring-text", class: "small" }, title)),
h("div", { class: "answers" },
h("button", { type: "button", class: "call-button hang-up", "data-action": "decline", "aria-label": t("callDecline"), title: t("callDecline"), onclick: () => attempt(center.decline()) }, icon("hangUp")),
isVideo ? h("button", { type: "button", class: "call-button quiet", "data-action": "answer-audio", "aria-label": t("callAnswerAudio"), title: t("callAnswerAudio"), onclick: () => answer(false) }, icon("call")) : null,
h("button", { type: "button", class: "call-button answer", "data-action": "answer", "aria-label": t(isVideo ? "callAnswerVideo" : "callAnswer"), title: t(isVideo ? "callAnswerVideo" : "callAnswer"), onclick: () => answer(isVideo) }, icon(isVideo ? "video" : "call"))));
document.body.prepend(element);
if (document.activeElement === document.body || document.activeElement === null) element.focus({ preventScroll: true });
return { element, close: () => element.remove() };
}
return { showRing };
})();
const $views_later = (() => {

const { attempt } = $views_toast;

let panels = null;

function withPanels(use) {
return panels ? use(panels) : attempt(load()).then((loaded) => loaded && use(loaded));
}

function preparePanels() {
const start = () => load().catch(() => {});
globalThis.requestIdleCallback ? requestIdleCallback(start, { timeout: 5000 }) : setTimeout(start, 2000);
}

async function load() {
panels = await $later("./views-panels-19e814f33cc984d3.js");
return panels;
}
return { withPanels, preparePanels };
})();
const $calls_machine = (() => {

const FINAL = new Set(["ended", "missed", "declined", "busy"]);

const isFinal = (state) => FINAL.has(state);

class CallMachine {
phase;
reason = null;
#isGroup;
#isCaller;

constructor(phase, { isGroup = false } = {}) {
this.phase = phase;
this.#isCaller = phase === "starting";
this.#isGroup = isGroup;
}

get isOver() { return this.phase === "over"; }
get rings() { return this.phase === "incoming"; }

started(isOwn) {
if (this.phase !== "starting") return "nothing";
if (isOwn) {
this.phase = "outgoing";
return "ring";
}
this.#isCaller = false;
this.phase = "joining";
return "accept";
}

answered() {
if (this.phase !== "incoming") return "nothing";
this.phase = "joining";
return "accept";
}

answerFailed() {
if (this.phase === "joining") this.phase = "incoming";
}

joined(counts) {
if (this.phase !== "joining") return "nothing";
if (!counts) return this.#end("elsewhere");
this.phase = "active";
return "connect";
}

connected() {
if (this.phase !== "outgoing") return "nothing";
this.phase = "active";
return "connect";
}

told(state, isOwn) {
if (this.isOver) return "nothing";
if (isFinal(state)) return this.#end(this.#reasonOf(state));
if (state !== "accepted") return "nothing";
if (this.phase === "outgoing" && (!isOwn || this.#isGroup)) {
this.phase = "active";
return "connect";
}
if (this.phase === "incoming" && isOwn) return this.#end("elsewhere");
return "nothing";
}

#reasonOf(state) {
if (state === "missed") return this.#isCaller ? "noAnswer" : "missed";
return state;
}

ended(reason = "hungUp") { return this.isOver ? "nothing" : this.#end(reason); }

#end(reason) {
this.phase = "over";
this.reason = reason;
return "end";
}
}
return { isFinal, CallMachine };
})();
const $calls_media = (() => {

const KEY = "apus-devices";
const CODES = {
NotAllowedError: "media_denied", SecurityError: "media_denied", NotFoundError: "media_missing", OverconstrainedError: "media_missing",
NotReadableError: "media_busy", AbortError: "media_busy",
};

class MediaError extends Error {
constructor(code, message = code) {
super(message);
this.code = code;
}
}

async function request(constraints, method = "getUserMedia") {
if (!navigator.mediaDevices?.[method]) throw new MediaError("media_insecure");
try {
return await navigator.mediaDevices[method](constraints);
} catch (error) {
throw new MediaError(CODES[error.name] ?? "media_busy", error.message);
}
}

function chosenDevices() {
try {
return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
} catch {
return {};
}
}

function keepDevice(kind, id) {
try {
localStorage.setItem(KEY, JSON.stringify({ ...chosenDevices(), [kind]: id }));
} catch {
}
}

async function listDevices() {
const all = (await navigator.mediaDevices?.enumerateDevices?.()) ?? [];
return all.filter(({ deviceId }) => deviceId);
}

const only = (kind) => (chosenDevices()[kind] ? { deviceId: { ideal: chosenDevices()[kind] } } : {});
const SOUND = () => ({ echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...only("audioinput") });
const PICTURE = () => ({ width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { max: 30 }, ...only("videoinput") });

class LocalMedia {
microphone = null;
camera = null;
screen = null;
isMuted = false;
stream = new MediaStream();
#changed;
#closed = false;

constructor(changed) { this.#changed = changed; }

get video() { return this.screen ?? this.camera; }
get state() { return { microphone: Boolean(this.microphone) && !this.isMuted, camera: Boolean(this.camera), screen: Boolean(this.screen) }; }

async open({ video = false } = {}) {
let stream;
try {
stream = await request({ audio: SOUND(), video: video ? PICTURE() : false });
} catch (error) {
if (error.code !== "media_missing") throw error;
const parts = [await this.#optional({ audio: SOUND() }), video ? await this.#optional({ video: PICTURE() }) : null];
stream = new MediaStream(parts.filter(Boolean).flatMap((each) => each.getTracks()));
}
if (this.#closed) return stream.getTracks().forEach((track) => track.stop());
this.#take("microphone", stream.getAudioTracks()[0] ?? null);
this.#take("camera", stream.getVideoTracks()[0] ?? null);
}

async #optional(constraints) {
try {
return await request(constraints);
} catch (error) {
if (error.code !== "media_missing") throw error;
return null;
}
}

#take(name, track) {
const former = this[name];
this[name] = track;
if (former && former !== track) {
former.onended = null;
former.stop();
}
if (track) {
track.onended = () => { if (this[name] === track) this.#take(name, null); };
if (name === "microphone") track.enabled = !this.isMuted;
if (name !== "microphone") track.contentHint = name === "screen" ? "detail" : "motion";
}
for (const each of this.stream.getTracks()) this.stream.removeTrack(each);
for (const each of [this.microphone, this.video]) if (each) this.stream.addTrack(each);
this.#changed();
}

async setMuted(isMuted) {
if (!isMuted && !this.microphone) await this.choose("audioinput", chosenDevices().audioinput);
this.isMuted = isMuted;
if (this.microphone) this.microphone.enabled = !isMuted;
this.#changed();
}

async setCamera(isOn) {
if (!isOn) return this.#take("camera", null);
const stream = await request({ video: PICTURE() });
this.#adopt("camera", stream.getVideoTracks()[0]);
}

async setScreen(isOn) {
if (!isOn) return this.#take("screen", null);
const stream = await request({ video: { frameRate: { max: 15 } }, audio: false }, "getDisplayMedia");
this.#adopt("screen", stream.getVideoTracks()[0]);
}

async choose(kind, id) {
keepDevice(kind, id);
const exact = id ? { deviceId: { exact: id } } : {};
if (kind === "audioinput") this.#adopt("microphone", (await request({ audio: { ...SOUND(), ...exact } })).getAudioTracks()[0]);
else if (kind === "videoinput" && this.camera) this.#adopt("camera", (await request({ video: { ...PICTURE(), ...exact } })).getVideoTracks()[0]);
else this.#changed();
}

#adopt(name, track) {
if (this.#closed) track?.stop();
else this.#take(name, track ?? null);
}

close() {
this.#closed = true;
this.#changed = () => {};
for (const name of ["microphone", "camera", "screen"]) this.#take(name, null);
}
}
return { MediaError, chosenDevices, listDevices, LocalMedia };
})();
const $calls_stats = (() => {

function summarize(report) {
const found = { at: 0, received: 0, lost: 0, bytes: 0, frames: 0, width: 0, height: 0, jitter: 0, roundTrip: null, isRelayed: false };
const pairs = new Map();
const candidates = new Map();
let selected = null;
for (const each of report.values()) {
found.at = Math.max(found.at, each.timestamp ?? 0);
if (each.type === "inbound-rtp") {
found.received += each.packetsReceived ?? 0;
found.lost += Math.max(0, each.packetsLost ?? 0);
found.bytes += each.bytesReceived ?? 0;
found.jitter = Math.max(found.jitter, each.jitter ?? 0);
if (each.kind === "video") {
found.frames += each.framesDecoded ?? 0;
found.width = each.frameWidth ?? found.width;
found.height = each.frameHeight ?? found.height;
}
} else if (each.type === "candidate-pair") pairs.set(each.id, each);
else if (each.type === "local-candidate") candidates.set(each.id, each);
else if (each.type === "transport") selected = each.selectedCandidatePairId ?? selected;
}
const pair = pairs.get(selected) ?? [...pairs.values()].find((each) => each.nominated && each.state === "succeeded");
if (pair) {
found.roundTrip = pair.currentRoundTripTime ?? null;
found.isRelayed = candidates.get(pair.localCandidateId)?.candidateType === "relay";
}
return found;
}

function levelOf(before, after) {
if (!before || after.at <= before.at) return null;
const received = after.received - before.received;
const lost = after.lost - before.lost;
if (received <= 0) return 1;
const loss = Math.max(0, lost) / (received + Math.max(0, lost));
const { roundTrip, jitter } = after;
if (loss > 0.08 || roundTrip > 0.6 || jitter > 0.1) return 1;
if (loss > 0.02 || roundTrip > 0.3 || jitter > 0.04) return 2;
return 3;
}
return { summarize, levelOf };
})();
const $calls_peer = (() => {

const { levelOf, summarize } = $calls_stats;

const PATIENCE = 2500;
const RETRY_EVERY = 8000;
const GIVE_UP = 30_000;

class Peer {
connection;
stream = new MediaStream();
state = { microphone: true, camera: false, screen: false };
quality = null;
wasConnected = false;
#making = false;
#ignoring = false;
#settling = false;
#senders = new Map();
#local;
#send;
#changed;
#lost;
#timer = null;
#lostAt = null;
#last = null;
#closed = false;

constructor({ user, device, session, offers, configuration, local, send, changed, lost }) {
Object.assign(this, { user, device, session, offers });
this.#local = local;
this.#send = send;
this.#changed = changed;
this.#lost = lost;
const connection = this.connection = new RTCPeerConnection(configuration);
connection.onnegotiationneeded = () => this.#offer();
connection.onicecandidate = ({ candidate }) => { if (candidate?.candidate) this.#send({ type: "candidate", candidate: candidate.toJSON() }); };
connection.ontrack = ({ track }) => this.#receive(track);
connection.onconnectionstatechange = () => this.#moved();
this.#lostAt = Date.now();
this.#later(RETRY_EVERY);
if (offers) for (const kind of ["audio", "video"]) this.#senders.set(kind, connection.addTransceiver(kind, { direction: "sendrecv", streams: [local.stream] }).sender);
this.update();
}

get isConnected() { return this.connection.connectionState === "connected"; }
get video() { return this.stream.getVideoTracks()[0] ?? null; }
get showsVideo() { return Boolean(this.video) && (this.state.camera || this.state.screen); }

update() {
for (const [kind, sender] of this.#senders) {
const track = kind === "audio" ? this.#local.microphone : this.#local.video;
if (sender.track !== track) sender.replaceTrack(track).catch((error) => console.warn("track:", error));
}
}

#receive(track) {
if (this.stream.getTracks().some(({ kind }) => kind === track.kind)) return;
this.stream.addTrack(track);
track.onunmute = () => this.#changed();
this.#changed();
}


async #offer() {
try {
this.#making = true;
await this.connection.setLocalDescription();
this.#describe();
} catch (error) {
if (!this.#closed) console.warn("offer:", error);
} finally {
this.#making = false;
}
}

#describe() {
const { type, sdp } = this.connection.localDescription;
this.#send({ type, sdp });
}

async receive(signal) {
const { connection } = this;
try {
if (signal.type === "candidate") {
await connection.addIceCandidate(signal.candidate).catch((error) => { if (!this.#ignoring) throw error; });
return;
}
const isReady = !this.#making && (connection.signalingState === "stable" || this.#settling);
this.#ignoring = signal.type === "offer" && !isReady && this.offers;
if (this.#ignoring) return;
this.#settling = signal.type === "answer";
await connection.setRemoteDescription({ type: signal.type, sdp: signal.sdp });
this.#settling = false;
if (signal.type !== "offer") return;
this.#adopt();
await connection.setLocalDescription();
this.#describe();
} catch (error) {
this.#settling = false;
if (!this.#closed) console.warn(`${signal.type}:`, error.message);
}
}

#adopt() {
for (const transceiver of this.connection.getTransceivers()) {
const { kind } = transceiver.receiver.track;
if (this.#senders.has(kind)) continue;
this.#senders.set(kind, transceiver.sender);
transceiver.direction = "sendrecv";
transceiver.sender.setStreams?.(this.#local.stream);
}
this.update();
}

resume() {
if (this.connection.signalingState === "have-local-offer") this.#describe();
else if (!this.connection.remoteDescription) return false;
else if (!this.isConnected) this.restart();
return true;
}

restart(configuration = null) {
if (this.#closed || !this.connection.remoteDescription) return;
if (configuration) this.connection.setConfiguration(configuration);
this.connection.restartIce();
}


#moved() {
if (this.#closed) return;
switch (this.connection.connectionState) {
case "connected":
clearTimeout(this.#timer);
this.#lostAt = null;
this.wasConnected = true;
break;
case "disconnected":
this.#lostAt ??= Date.now();
this.#later(PATIENCE);
break;
case "failed":
this.#lostAt ??= Date.now();
this.#later(0);
break;
}
this.#changed();
}

#later(delay) {
clearTimeout(this.#timer);
this.#timer = setTimeout(() => {
if (this.#closed || this.isConnected) return;
if (Date.now() - this.#lostAt >= GIVE_UP) return this.#lost();
this.resume();
this.#later(RETRY_EVERY);
}, delay);
}

wait() {
if (this.#closed || this.isConnected) return;
this.#lostAt = Date.now();
this.#later(RETRY_EVERY);
}

async measure() {
const now = summarize(await this.connection.getStats());
const level = levelOf(this.#last, now);
this.#last = now;
if (level === null || level === this.quality) return;
this.quality = level;
this.#changed();
}

close() {
this.#closed = true;
clearTimeout(this.#timer);
this.connection.onconnectionstatechange = null;
this.connection.close();
}
}
return { Peer };
})();
const $calls_signals = (() => {

const LONGEST_DESCRIPTION = 100_000;
const LONGEST_CANDIDATE = 1000;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const makeSession = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function readSignal(data) {
if (typeof data !== "object" || data === null) return null;
const { type } = data;
const session = nameOf(data.session);
const to = nameOf(data.to);
switch (type) {
case "join": return { type, session, to, reply: data.reply === true, again: data.again === true };
case "leave": return { type, session, to, moved: data.moved === true };
case "full": case "answered": return { type, session, to };
case "state": return { type, session, to, state: { microphone: data.microphone !== false, camera: data.camera === true, screen: data.screen === true } };
case "offer": case "answer":
return typeof data.sdp === "string" && data.sdp.length > 0 && data.sdp.length <= LONGEST_DESCRIPTION ? { type, session, to, sdp: data.sdp } : null;
case "candidate": {
const candidate = readCandidate(data.candidate);
return candidate && { type, session, to, candidate };
}
default: return null;
}
}

const nameOf = (value) => (typeof value === "string" && NAME.test(value) ? value : "");

function readCandidate(value) {
if (typeof value !== "object" || value === null) return null;
const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = value;
if (typeof candidate !== "string" || candidate.length > LONGEST_CANDIDATE) return null;
const isText = (text) => typeof text === "string" && text.length <= 256;
if (!isText(sdpMid) && !Number.isInteger(sdpMLineIndex)) return null;
return {
candidate, ...(isText(sdpMid) && { sdpMid }), ...(Number.isInteger(sdpMLineIndex) && { sdpMLineIndex }), ...(isText(usernameFragment) && { usernameFragment }),
};
}
return { makeSession, readSignal };
})();
const $calls_call = (() => {

const { CallMachine } = $calls_machine;
const { LocalMedia } = $calls_media;
const { Peer } = $calls_peer;
const { makeSession, readSignal } = $calls_signals;

const MOST_PEERS = 3;
const MOST_JOINS = 8;
const MEASURE_EVERY = 2000;
const LEAVE_TIME = 10_000;
const JOIN_TIME = 3000;

class Call {
peers = new Map();
session = makeSession();
startedAt = null;
caller = null;
local;
machine;
seq = null;
#joins = [];
#configuration = null;
#expiresAt = Infinity;
#measuring = null;
#isJoining = false;
#joinTimer = null;
#owner;

constructor(owner, { conv, seq = null, media, isGroup, phase, caller }) {
Object.assign(this, { conv, seq, media, isGroup, caller });
this.#owner = owner;
this.machine = new CallMachine(phase, { isGroup });
this.releaseMedia();
}

releaseMedia() {
this.local?.close();
this.local = new LocalMedia(() => this.#mediaChanged());
}

get phase() { return this.machine.phase; }
get reason() { return this.machine.reason; }
get isOver() { return this.machine.isOver; }
get isConnected() { return [...this.peers.values()].some((peer) => peer.isConnected); }
get #state() { return this.#owner.state; }


async prepare() {
const { servers = [], expires_at: expiresAt, relay_only: isRelayed } = await this.#state.callServers().catch(() => ({}));
this.#expiresAt = servers.length && expiresAt ? expiresAt : Infinity;
this.#configuration = {
iceServers: servers.map(({ urls, username, credential }) => ({ urls, ...(username && { username, credential }) })),
iceTransportPolicy: isRelayed ? "relay" : "all", bundlePolicy: "max-bundle",
};
}

act(action) {
switch (action) {
case "connect":
this.startedAt ??= this.#state.now;
this.#measuring ??= setInterval(() => { for (const peer of this.peers.values()) peer.measure().catch(() => {}); }, MEASURE_EVERY);
break;
case "end": this.#close(); break;
}
this.#owner.changed();
}

told(state, isOwn, at) {
if (state === "accepted" && this.phase !== "incoming") this.startedAt = at ?? this.startedAt;
this.act(this.machine.told(state, isOwn));
}

join() {
for (const [user, device] of this.#joins.splice(0)) {
this.#send(user, device, "", { type: "join" });
this.#add(user, device, "", true);
}
const state = this.#state;
this.#isJoining = this.isGroup && this.peers.size === 0;
this.#send(this.isGroup ? undefined : state.conversation(this.conv)?.peer?.name, undefined, "", { type: "join" });
if (this.isGroup) this.#send(state.account.name, undefined, "", { type: "answered" });
}

announceLeaving() { for (const peer of this.peers.values()) this.#sendTo(peer, { type: "leave" }); }

leave(reason) {
this.announceLeaving();
this.act(this.machine.ended(reason));
}

#close() {
clearInterval(this.#measuring);
clearTimeout(this.#joinTimer);
for (const peer of this.peers.values()) peer.close();
this.peers.clear();
this.local.close();
this.#owner.over(this);
}

resume() {
if (this.phase !== "active") return;
for (const peer of this.peers.values()) {
if (!peer.resume()) this.#sendTo(peer, { type: "join" });
this.#sendTo(peer, { type: "state", ...this.local.state });
}
if (this.isGroup && this.peers.size) this.#send(undefined, undefined, "", { type: "join", again: true });
if (this.peers.size === 0) this.join();
}

async restartICE() {
if (this.phase !== "active") return;
if (this.#expiresAt <= this.#state.now + 60_000) await this.prepare();
for (const peer of this.peers.values()) peer.restart(this.#configuration);
}


received({ from: user, device, data }) {
const signal = readSignal(data);
if (!signal || this.isOver || signal.session === this.session) return;
if (signal.to ? signal.to !== this.session : signal.session && signal.type !== "join" && signal.type !== "answered") return;
if (user === this.#state.account?.name) {
if (signal.type !== "answered") return;
const isThisDevice = this.isGroup && device === this.#state.session?.device && (this.phase === "outgoing" || this.phase === "active");
return this.act(isThisDevice ? this.machine.ended("elsewhere") : this.machine.told("accepted", true));
}
if (this.phase === "incoming" || this.phase === "joining") {
if (signal.type === "join" && !signal.session && this.#joins.length < MOST_JOINS) this.#joins.push([user, device]);
return;
}
if (this.phase !== "outgoing" && this.phase !== "active") return;
if (signal.type === "join") return this.#joined(user, device, signal);
const peer = this.peers.get(keyOf(user, device, signal.session));
if (signal.type === "full" && this.isGroup && signal.to === this.session) return this.#refused(peer);
if (!peer) return;
switch (signal.type) {
case "leave": return signal.moved && !this.isGroup ? this.act(this.machine.ended("elsewhere")) : this.#left(peer);
case "full": return this.peers.size <= 1 ? this.leave("full") : this.#remove(peer);
case "state":
peer.state = signal.state;
return this.#owner.changed();
default: return peer.receive(signal);
}
}

#refused(peer) {
if (peer) this.#remove(peer);
if (this.phase !== "active" || this.peers.size || !(peer || this.#isJoining)) return;
this.#joinTimer ??= setTimeout(() => {
this.#joinTimer = null;
if (!this.isOver && this.peers.size === 0) this.#owner.lost(this, "full");
}, JOIN_TIME);
}

#joined(user, device, { session, reply, again }) {
const known = this.peers.get(keyOf(user, device, session));
if ((reply || again) && known) return;
for (const peer of [...this.peers.values()]) {
if (peer.user !== user || (this.isGroup && peer.device !== device && peer !== known)) continue;
if (peer !== known && peer.session) this.#sendTo(peer, { type: "leave", moved: true });
this.#remove(peer, true);
}
if (this.peers.size >= MOST_PEERS) return this.#send(user, device, session, { type: "full" });
if (!reply) this.#send(user, device, session, { type: "join", reply: true });
this.#add(user, device, session, false);
this.act(this.machine.connected());
}

#add(user, device, session, isFirst) {
const key = keyOf(user, device, session);
if (this.peers.size >= MOST_PEERS || this.peers.has(key)) return null;
const peer = new Peer({
user, device, session, offers: session ? this.session > session : isFirst, configuration: this.#configuration ?? {}, local: this.local,
send: (data) => this.#sendTo(peer, data),
changed: () => this.#owner.changed(),
lost: () => this.#lost(peer),
});
this.peers.set(key, peer);
this.#isJoining = false;
this.#sendTo(peer, { type: "state", ...this.local.state });
this.#owner.changed();
return peer;
}

#remove(peer, isReplaced = false) {
const key = keyOf(peer.user, peer.device, peer.session);
if (this.peers.get(key) !== peer) return;
this.peers.delete(key);
peer.close();
if (!isReplaced) this.#owner.changed();
}

dismissed(users) {
for (const peer of [...this.peers.values()]) if (users.includes(peer.user)) this.#remove(peer);
}

#left(peer) {
this.#remove(peer);
if (!this.isGroup) setTimeout(() => { if (!this.isOver && this.peers.size === 0) this.#owner.lost(this, "ended"); }, LEAVE_TIME);
}

#lost(peer) {
if (this.#state.connection?.state !== "online") return peer.wait();
this.#remove(peer);
if (!this.isGroup && this.peers.size === 0) this.#owner.lost(this);
}

#sendTo(peer, data) { this.#send(peer.user, peer.device, peer.session, data); }

#send(user, device, session, data) {
if (this.seq === null) return;
this.#state.signal(this.conv, this.seq, user, device, { ...data, session: this.session, ...(session && { to: session }) }).catch((error) => {
if (error.code !== "offline" && error.code !== "not_found") console.warn("signal:", error.message);
});
}


#mediaChanged() {
for (const peer of this.peers.values()) {
peer.update();
this.#sendTo(peer, { type: "state", ...this.local.state });
}
this.#owner.changed();
}
}

const keyOf = (user, device, session) => `${user}/${device}/${session}`;
return { MOST_PEERS, Call };
})();
const $calls_center = (() => {

const { Call } = $calls_call;
const { isFinal } = $calls_machine;

const LEAVING = new Set(["member.leave", "member.remove", "member.ban"]);
const RING_TIME = 60_000;
const LONGEST_GROUP = 32;

const canCall = (head) => (!head.state || head.state === "joined") && (head.kind === "pair" || (head.kind === "group" && (head.members ?? 0) <= LONGEST_GROUP))
&& head.role !== "reader" && head.role !== "guest" && ((head.role ?? "member") !== "member" || head.call || head.settings?.write !== "admins") && !(head.silenced_until > Date.now());

class CallCenter {
current = null;
#listeners = new Set();
#isTelling = false;
#ringTimer = null;
#departure = Promise.resolve();

constructor(state) {
this.state = state;
state.oncall = (conv, events) => { for (const event of events) this.#event(conv, event); };
state.onsignal = (signal) => this.#signal(signal);
let isOnline = state.connection?.state === "online";
state.subscribe("connection", () => {
const was = isOnline;
isOnline = state.connection?.state === "online";
if (isOnline && !was) this.#online();
});
state.subscribe("session", () => { if (state.session.phase === "signedOut") this.current?.leave("ended"); });
state.subscribe("conversations", () => this.#checkMembership());
addEventListener("online", () => this.current?.restartICE());
navigator.connection?.addEventListener?.("change", () => this.current?.restartICE());
addEventListener("pagehide", ({ persisted }) => {
if (!persisted) this.#closed();
for (const peer of this.current?.peers.values() ?? []) peer.close();
});
if (isOnline) this.#online();
}

get isBusy() { return this.current !== null && !this.current.isOver; }

subscribe(listener) {
this.#listeners.add(listener);
return () => this.#listeners.delete(listener);
}

changed() {
if (this.#isTelling) return;
this.#isTelling = true;
queueMicrotask(() => {
this.#isTelling = false;
for (const listener of [...this.#listeners]) listener();
});
}

over(call) {
if (this.current === call) clearTimeout(this.#ringTimer);
this.changed();
}

dismiss() {
if (!this.current?.isOver) return;
this.current = null;
this.changed();
}


async start(conv, media) {
if (this.isBusy) throw Object.assign(new Error(), { code: "call_busy" });
const head = this.state.conversation(conv);
const call = this.#begin(new Call(this, { conv, media, isGroup: head.kind !== "pair", phase: "starting", caller: this.state.account.name }));
try {
await Promise.all([call.local.open({ video: media === "video" }), call.prepare()]);
await this.#departure;
if (call.isOver) return;
const answer = await this.state.startCall(conv, media).catch((error) => { throw error.code === "unsupported" ? Object.assign(error, { code: "call_backend" }) : error; });
call.seq = answer.call;
if (call.isOver) return await this.#depart(call);
const event = await this.state.callEvent(conv, call.seq);
const action = call.machine.started(!event || (event.sender === this.state.account.name && event.body?.state === "ringing"));
if (action === "accept") {
call.caller = event.sender;
call.media = event.body?.media ?? media;
if (isFinal(event.body?.state)) return call.told(event.body.state, false);
return await this.#join(call, true);
}
this.#ringUntil(call);
call.act(action);
if (event) call.told(event.body?.state, false);
} catch (error) {
call.act(call.machine.ended("failed"));
this.dismiss();
throw error;
}
}

async answer({ video = false } = {}) {
const call = this.current;
if (call?.machine.answered() !== "accept") return;
clearTimeout(this.#ringTimer);
this.changed();
try {
await Promise.all([call.local.open({ video }), call.prepare()]);
if (!call.isOver) await this.#join(call, call.isGroup);
} catch (error) {
call.machine.answerFailed();
if (call.phase === "incoming") call.releaseMedia();
this.#ringUntil(call);
this.changed();
throw error;
}
}

async #join(call, isOpen) {
await this.#departure;
const answer = await this.state.updateCall(call.conv, call.seq, "accepted", `accept-${call.session}`);
if (call.isOver) return this.#depart(call);
if (answer.seq === undefined) {
const event = await this.state.callEvent(call.conv, call.seq);
if (event && isFinal(event.body?.state)) return call.told(event.body.state, false);
}
const action = call.machine.joined(isOpen || answer.seq !== undefined);
call.act(action);
if (action === "connect") call.join();
}

async decline(state = "declined") {
const call = this.current;
if (!call?.machine.rings) return;
call.act(call.machine.ended("declined"));
this.dismiss();
await this.#report(call, state);
}

async hangUp(reason = "hungUp") {
const call = this.current;
if (!call || call.isOver) return;
call.leave(reason);
if (call.seq !== null) await this.#depart(call);
}

#depart(call) {
const departure = this.#departure.then(() => this.#report(call, "ended"));
this.#departure = departure;
return departure;
}

#closed() {
const { current: call } = this;
if (!call || call.isOver || call.seq === null || !["outgoing", "active"].includes(call.phase)) return;
call.announceLeaving();
if (!call.isGroup && call.peers.size) return;
const id = `end-${call.session}`;
this.state.updateCall(call.conv, call.seq, "ended", id).catch(() => {});
const body = JSON.stringify({ id, conv: call.conv, call: call.seq, state: "ended" });
fetch("/api/chat/call.update", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json", "Chat-Session": "cookie" }, body }).catch(() => {});
}

lost(call, reason = "lost") {
if (this.current === call) this.hangUp(reason).catch((error) => console.warn(error));
}

async #report(call, state) {
try {
await this.state.updateCall(call.conv, call.seq, state);
} catch (error) {
if (error.code !== "not_found") console.warn("call:", error.message);
}
}


#begin(call) {
clearTimeout(this.#ringTimer);
this.current = call;
this.changed();
return call;
}

#event(conv, event) {
if (event.kind === "call") return this.#rings(conv, event);
const call = this.current;
if (call?.conv !== conv) return;
if (LEAVING.has(event.kind)) return call.dismissed(event.body?.users ?? event.users ?? [event.sender]);
if (event.kind !== "call.update" || event.ref === undefined || call.seq !== event.ref) return;
call.told(event.body?.state, event.sender === this.state.account?.name, event.at);
}

#rings(conv, event) {
const { state } = this;
if (event.state || event.body?.state !== "ringing" || event.sender === state.account?.name || state.now - event.at > RING_TIME) return;
const head = state.conversation(conv);
if (!head) return;
if (event.body.backend) return this.onforeign?.();
const call = this.current;
if (call && !call.isOver) {
if (call.conv !== conv && head.kind === "pair") this.#report({ conv, seq: event.seq }, "busy");
return;
}
const ring = this.#begin(new Call(this, { conv, seq: event.seq, media: event.body.media === "video" ? "video" : "audio", isGroup: head.kind !== "pair", phase: "incoming", caller: event.sender }));
this.#ringUntil(ring, event.at + RING_TIME - state.now);
}

#ringUntil(call, left = RING_TIME) {
clearTimeout(this.#ringTimer);
this.#ringTimer = setTimeout(() => {
if (call.phase === "incoming") {
call.act(call.machine.told("missed", false));
this.dismiss();
} else if (call.phase === "outgoing") this.hangUp("noAnswer");
}, Math.max(0, left) + 3000);
}

#checkMembership() {
const call = this.current;
if (!call || call.isOver || !this.state.account) return;
const head = this.state.conversation(call.conv);
if (!head || (head.state && head.state !== "joined")) call.leave("ended");
}

#signal(signal) {
const call = this.current;
if (call && call.conv === signal.conv && call.seq === signal.call) call.received(signal);
}

async #online() {
const call = this.current;
if (call && !call.isOver && call.seq !== null) {
const event = await this.state.callEvent(call.conv, call.seq).catch(() => null);
if (event) call.told(event.body?.state, call.phase === "incoming" && !call.isGroup);
if (!call.isOver && call.phase === "active") {
await this.state.updateCall(call.conv, call.seq, "accepted").catch(() => {});
call.resume();
}
}
if (!this.isBusy) await this.#findRinging();
}

async #findRinging() {
for (const head of this.state.conversations({ filter: "everything" })) {
if (!head.call || this.isBusy) continue;
const event = await this.state.callEvent(head.conv, head.call).catch(() => null);
if (event && !this.isBusy) this.#rings(head.conv, event);
}
}
}
return { canCall, CallCenter };
})();
const $calls_tone = (() => {

const TONES = {
incoming: { notes: [[659.3, 0], [830.6, 0.18], [987.8, 0.36]], length: 0.5, every: 2400, loudness: 0.14 },
outgoing: { notes: [[440, 0]], length: 0.9, every: 4000, loudness: 0.05 },
};

let context = null;
let timer = null;
let current = null;

function ring(name) {
if (name === current) return;
current = name;
clearInterval(timer);
if (!name) return;
play(TONES[name]);
timer = setInterval(() => play(TONES[name]), TONES[name].every);
}

function play({ notes, length, loudness }) {
try {
context ??= new AudioContext();
context.resume().catch(() => {});
if (context.state !== "running") return;
for (const [frequency, delay] of notes) {
const begin = context.currentTime + delay;
const tone = new OscillatorNode(context, { type: "sine", frequency });
const volume = new GainNode(context, { gain: 0 });
volume.gain.setValueAtTime(0, begin);
volume.gain.linearRampToValueAtTime(loudness, begin + 0.03);
volume.gain.exponentialRampToValueAtTime(0.0001, begin + length);
tone.connect(volume).connect(context.destination);
tone.start(begin);
tone.stop(begin + length);
}
} catch (error) {
console.warn("No tone:", error);
}
}
return { ring };
})();
const $state_notifications = (() => {

const { mentions } = $core_applying;

const FRESH = 60_000;

async function watchNotifications(store) {
watchBadge(store);
if (!globalThis.isSecureContext || !navigator.serviceWorker) return;
const { serviceWorker } = navigator;
serviceWorker.addEventListener("message", ({ data, ports }) => {
if (data?.type === "shown") ports[0]?.postMessage(document.hasFocus() && store.shown.includes(data.conv));
if (data?.type === "open" && data.conv) location.hash = `#/c/${data.conv}`;
if (data?.type === "sound") store.onsound?.();
});
const tell = async (message) => (await serviceWorker.ready).active?.postMessage(message);
store.onevents = (conv, events) => {
const head = store.conversation(conv);
const event = events.findLast((each) => head && deserves(store, head, each));
if (!event || !store.port.leads || isQuiet(store.settings)) return;
const { desktop = true, sound = false } = store.notifying ?? {};
const show = desktop && Notification.permission === "granted";
if (show || sound) tell({ type: "notify", conv, show, sound, silent: !sound || undefined, ...store.describe(head, event) });
};
store.tellWords = (words) => tell({ type: "words", ...words });
let unread = null;
const tellUnread = () => {
if (store.connection.state !== "online" || Notification.permission !== "granted") return;
const convs = store.conversations({ filter: "everything" }).filter((head) => head.unread > 0).map(({ conv }) => conv);
if (!unread?.every((conv) => convs.includes(conv))) tell({ type: "unread", convs });
unread = convs;
};
for (const key of ["connection", "conversations"]) store.subscribe(key, tellUnread);
store.onread = (conv) => { if (Notification.permission === "granted") tell({ type: "read", conv }); };
store.subscribe("session", () => { if (store.session.phase === "signedOut") tell({ type: "signedOut" }); });
try {
await serviceWorker.register("/sw.js");
} catch (error) {
console.warn("No service worker:", error);
}
}

function watchBadge(store) {
let badge = -1;
store.subscribe("conversations", () => {
const { unread } = store;
if (unread === badge) return;
badge = unread;
(unread > 0 ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.())?.catch(() => {});
});
}

function deserves(store, head, event, now = store.now) {
const user = store.account?.name;
const { muted_until: muted = 0, notify } = head.own ?? {};
if (event.n === undefined || event.sender === user || event.silent || event.kind === "hidden" || event.state) return false;
if (now - event.at > FRESH || event.n <= (head.read ?? 0) || muted > now) return false;
return notify !== "mentions" || mentions(event, user);
}

function isQuiet({ quiet_from: from, quiet_until: until }, now = new Date()) {
if (from === undefined || until === undefined || from === until) return false;
const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}
return { watchNotifications, deserves, isQuiet };
})();
const $views_calls = (() => {

const { showRing } = $views_callring;
const { withPanels } = $views_later;
const { attempt, toast } = $views_toast;
const { isMuted } = $views_model;
const { CallCenter } = $calls_center;
const { ring } = $calls_tone;
const { isQuiet } = $state_notifications;
const { t } = $i18n_index;

const SHOWN = 2500;

class CallsView {
#shown = null;
#ring = null;
#screen = null;

constructor(app) {
this.app = app;
this.state = app.state;
this.center = new CallCenter(this.state);
this.center.subscribe(() => this.#update());
this.center.onforeign = () => toast(t("callNeedsClient"));
}

get current() { return this.center.current; }

async start(conv, media) {
if (this.center.isBusy) {
if (this.center.current.conv === conv) return this.#screen?.setSmall(false);
return toast(t("callOtherFirst"), { role: "alert" });
}
await attempt(this.center.start(conv, media));
}

#update() {
const call = this.center.current;
if (call !== this.#shown) this.#clear();
this.#shown = call;
this.#playTone(call);
if (!call) return;
const rings = call.phase === "incoming" || (this.#ring && call.phase === "joining" && !call.local.microphone);
if (rings) this.#ring ??= showRing(this.state, this.center, call);
else {
this.#ring?.close();
this.#ring = null;
}
if (this.#ring) return;
if (call.isOver && !this.#screen) {
if (call.reason === "elsewhere") toast(t("callElsewhere"));
return queueMicrotask(() => this.center.dismiss());
}
withPanels(({ CallScreen }) => this.#showScreen(CallScreen, call));
}

#showScreen(CallScreen, call) {
if (call !== this.center.current) return;
this.#screen ??= new CallScreen(this.state, this.center, call);
this.#screen.update();
if (call.isOver && !this.#screen.isEnding) {
this.#screen.isEnding = true;
setTimeout(() => { if (this.center.current === call) this.center.dismiss(); }, SHOWN);
}
}

#playTone(call) {
const head = call && this.state.conversation(call.conv);
const isLoud = this.app.preferences.sound && head && !isMuted(head) && !isQuiet(this.state.settings ?? {});
const isKnown = call?.isGroup || this.state.contact(call?.caller)?.state === "friend";
if (call?.phase === "incoming") ring(isLoud && isKnown && this.state.port.leads ? "incoming" : null);
else ring(call?.phase === "outgoing" && this.app.preferences.sound ? "outgoing" : null);
}

#clear() {
this.#ring?.close();
this.#screen?.close();
this.#ring = this.#screen = null;
}
}
return { CallsView };
})();
const $views_address = (() => {

function addressOf(conv, seq = null, thread = null) {
return ["#", thread === null ? "c" : "t", conv, thread, seq].filter((part) => part !== null).join("/");
}

function readAddress(hash) {
const [, kind, conv, ...places] = hash.split("/");
const [first = null, second = null] = places.map((place) => (/^\d{1,16}$/.test(place) ? Number(place) : null));
if (kind !== "c" && kind !== "t") return { conv: null, seq: null, thread: null };
return kind === "t" ? { conv, thread: first, seq: second } : { conv, thread: null, seq: first };
}
return { addressOf, readAddress };
})();
const $views_dialog = (() => {

const { h, uniqueID } = $views_dom;
const { icon } = $views_icons;
const { closeMenu } = $views_menu;
const { t } = $i18n_index;

function openDialog(title, content, { wide = false, onclose, label = "", stays = false } = {}) {
closeMenu();
const before = document.activeElement;
const id = uniqueID("dialog");
const element = h("dialog", { class: `card${wide ? " wide" : ""} ${label}`, "aria-labelledby": id },
h("div", { class: "dialog-head" }, h("h2", { id, class: "grow" }, title),
h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: () => element.close() }, icon("close"))),
content);
element.addEventListener("close", () => {
element.remove();
if (document.activeElement === document.body && before?.isConnected) before.focus({ preventScroll: true });
onclose?.();
});
element.addEventListener("pointerdown", (event) => {
if (event.target === element && !stays) element.close();
});
if (stays) element.addEventListener("keydown", (event) => { if (event.key === "Escape") event.preventDefault(); });
document.body.append(element);
element.showModal();
(element.querySelector("[autofocus]") ?? element.querySelector(".dialog-body input, .dialog-body select, .dialog-body textarea, .dialog-body button, .dialog-foot .primary"))?.focus();
return { element, close: () => element.close() };
}

async function whenClosed() {
for (let open; (open = document.querySelector("dialog[open]"));) await new Promise((done) => open.addEventListener("close", done, { once: true }));
}

function confirm(question, { yes = t("yes"), dangerous = false, detail = null } = {}) {
return new Promise((resolve) => {
let answer = false;
const dialog = openDialog(question, [
detail ? h("p", { class: "dialog-body" }, detail) : null,
h("div", { class: "dialog-foot" },
h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")),
h("button", { type: "button", autofocus: true, class: `button ${dangerous ? "dangerous" : "primary"}`, onclick: () => { answer = true; dialog.close(); } }, yes)),
].filter(Boolean), { onclose: () => resolve(answer) });
});
}

function ask(title, { label = title, value = "", yes = t("save"), type = "text", hint = null, maxlength = 1000, lines = 1 } = {}) {
return new Promise((resolve) => {
let answer = null;
const input = h(lines > 1 ? "textarea" : "input", { class: "input", type: lines > 1 ? null : type, rows: lines > 1 ? String(lines) : null, value, autofocus: true, maxlength: String(maxlength) });
const form = h("form", { onsubmit: (event) => { event.preventDefault(); answer = input.value; dialog.close(); } },
h("div", { class: "dialog-body" }, h("label", { class: "field" }, label, input), hint ? h("p", { class: "small muted" }, hint) : null),
h("div", { class: "dialog-foot" },
h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")),
h("button", { type: "submit", class: "button primary" }, yes)));
const dialog = openDialog(title, form, { onclose: () => resolve(answer) });
input.select();
});
}

function switchRow(label, checked, change, { detail = null, disabled = false } = {}) {
const id = uniqueID("switch");
const input = h("input", { type: "checkbox", role: "switch", class: "switch", id, checked, disabled });
input.addEventListener("change", async () => {
if (await change(input.checked) === false) input.checked = !input.checked;
});
return h("div", { class: "option-row" }, h("label", { class: "lines", for: id }, label, detail ? h("div", { class: "small muted" }, detail) : null), input);
}

function selectRow(label, value, options, change, { disabled = false } = {}) {
const id = uniqueID("select");
const select = h("select", { class: "input", id, disabled }, options.map(([key, text]) => h("option", { value: String(key) }, text)));
let before = select.value = String(value);
select.addEventListener("change", async () => {
if (await change(select.value) === false) select.value = before;
else before = select.value;
});
return h("div", { class: "option-row" }, h("label", { class: "lines", for: id }, label), select);
}
return { openDialog, whenClosed, confirm, ask, switchRow, selectRow };
})();
const $views_clipboard = (() => {

const { h } = $views_dom;
const { openDialog } = $views_dialog;
const { toast } = $views_toast;
const { t } = $i18n_index;

async function copyText(text) {
try {
await navigator.clipboard.writeText(text);
toast(t("copied"), { seconds: 2 });
} catch {
const isLong = text.includes("\n");
const field = h(isLong ? "textarea" : "input", { class: "input", rows: isLong ? "8" : null, readonly: true, value: text, "aria-label": t("copy"), autofocus: true });
openDialog(t("copy"), h("div", { class: "dialog-body" }, field));
field.select();
}
}

function saveText(text, name) {
const address = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
h("a", { href: address, download: name }).click();
setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
return { copyText, saveText };
})();
const $text_skeleton = (() => {

const IGNORED = /[\p{Mn}\p{Me}\p{Cf}\p{Zs}\p{Cc}\p{DI}._-]/u;
const SHARED = { m: "rn", w: "vv", i: "l", 1: "l", "|": "l", 0: "o", æ: "ae", ӕ: "ae", œ: "oe" };
const PAIRS = `
аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ѡw ѵv ӏl үy гr ьb ҽe ꙇi АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ЅS ІI ЈJ ԌG ԚQ ԜW ѴV ӀI ҮY
αa οo νv ρp υu ιi κk γy σo ϳj ᴦr ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ͿJ ϜF ϺM
ոn ռn սu օo հh զq գq ցg յj աw քf ՕO ՏS ԼL ՍU ყy ჿo
ⲅr ⲟo ⲣp ⲥc ⲎH Ⲓl ⲔK ⲘM ⲚN ⲞO ⲢP ⲤC ⲦT ⲨY ⲬX ⳐL
ᎪA ᏴB Ꮟb ᏟC ᎠD Ꮷd ᎬE ᏀG ᏳG ᎻH Ꮒh ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏒR ᏚS ᏕS ᎢT ᏙV ᎳW ᏔW ᎩY ᎽY ᏃZ ꮁr
ꓮA ꓐB ꓚC ꓓD ꓒd ꓰE ꓝF ꓖG ꓧH ꓲl ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ
ᗅA ᗷB ᑲb ᖯb ᗞD ᗪD ᑯd ᖴF ᕼH ᒍJ ᒪL ᗰM ᑭP ᖇR ᑌU ᐯV ᕁx ᕽx ⴸV ⴹE ⵏl ⵔO ⵕQ ⵝX ᚷX ᛁl ᛕK ᛖM
ıi ɑa ɡg ɩi ɪi ʏy ᴏo ᴄc ᴠv ᴡw ᴢz ꜱs ɢg ʜh ɴn ʀr ʟl ᴀa ᴇe ᴋk ᴘp ᴛt ᴜu ɛe ʋu ƅb ɯw ƍg ǀl ɣy ỿy
ᶃg ᶌy ᴑo ꞟu ꬲe ꬵf ꬽo ꭇr ꭈr ꭎu ꭒu ꭚy ꞙf ẝf ꞘF ꞲJ ꞳX ꞴB
١l ۱l ٥o ۵o ߀o ०o ০o ੦o ૦o ୦o ௦o ౦o ೦o ൦o ๐o ໐o ၀o 〇o ×x ℮e ∣l ∨v ∪U`;
const TABLE = new Map(PAIRS.trim().split(/\s+/).map((pair) => [...pair]));

function skeleton(name) {
let found = "";
for (const scalar of name.normalize("NFKD")) {
if (IGNORED.test(scalar)) continue;
for (const lower of letter(scalar).toLowerCase()) {
const alike = letter(lower);
found += SHARED[alike] ?? alike;
}
}
return found;
}

const skeletons = (name) => new Set([skeleton(name), skeleton(name.toLowerCase())]);

function letter(scalar) {
const found = TABLE.get(scalar);
const code = scalar.codePointAt(0);
if (found || code < 0xab70 || code > 0xabbf) return found ?? scalar;
return TABLE.get(String.fromCodePoint(code - 0xab70 + 0x13a0)) ?? scalar;
}
return { skeletons };
})();
const $views_lookalike = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { userName } = $views_model;
const { skeletons } = $text_skeleton;
const { t } = $i18n_index;

let kept = {};

function namesOf(state) {
const { account, contactIndex } = state;
if (kept.account === account && kept.contactIndex === contactIndex) return kept.names;
const names = new Map();
const add = (text, name) => {
for (const form of text ? skeletons(text) : []) if (form) names.set(form, (names.get(form) ?? new Set()).add(name));
};
for (const { user, alias } of state.contacts()) for (const text of [user.name, user.nick, alias]) add(text, user.name);
if (account) for (const text of [account.name, account.nick]) add(text, account.name);
kept = { account, contactIndex, names };
return names;
}

function resembled(state, name) {
if (!name || name === state.account?.name) return null;
const user = state.user(name) ?? { name };
const names = namesOf(state);
const isContact = state.contact(name)?.state === "friend";
for (const text of isContact ? [user.alias || user.nick || name] : [user.alias, user.nick, name]) {
for (const form of text ? skeletons(text) : []) {
const other = [...(names.get(form) ?? [])].find((each) => each !== name);
if (other) return other;
}
}
return null;
}

function lookalikeMark(state, name) {
const other = resembled(state, name);
if (!other) return null;
const label = warning(state, name, other);
return h("span", { class: "lookalike", role: "img", "aria-label": label, title: label }, icon("warning"));
}

function lookalikeNote(state, name) {
const other = resembled(state, name);
return other ? h("p", { class: "notice-line" }, icon("warning"), h("span", {}, warning(state, name, other))) : null;
}

function warning(state, name, other) {
return other === state.account?.name ? t("looksLikeYou", { name }) : t("looksLike", { name, other: userName(state, other), account: other });
}
return { resembled, lookalikeMark, lookalikeNote };
})();
const $views_virtual = (() => {

const { perFrame } = $views_dom;

const OVERSCAN = 600;
const MARGIN = 80;
const AHEAD = 12;

class VirtualList {
#heights = new Map();
#offsets = new Float64Array(1);
#valid = false;
#elements = new Map();
#scheduled;
#following = false;
#ignored = -1;

constructor(scroller, container, options) {
this.scroller = scroller;
this.options = { estimate: 66, stick: () => false, anchored: true, signature: () => "", ...options };
this.rows = [];
this.slice = container.appendChild(document.createElement(options.tag ?? "div"));
this.slice.className = "slice";
this.container = container;
container.classList.add("virtual");
this.#scheduled = perFrame(() => this.layout());
this.onscroll = () => {
if (this.scroller.scrollTop !== this.#ignored) this.#following = this.#sticks();
this.#scheduled();
this.options.onscroll?.(this);
};
scroller.addEventListener("scroll", this.onscroll, { passive: true });
this.observer = new ResizeObserver(() => this.#scheduled());
this.observer.observe(scroller);
this.observer.observe(this.slice);
}

close() {
this.scroller.removeEventListener("scroll", this.onscroll);
this.observer.disconnect();
this.slice.remove();
this.closed = true;
}

isAtEnd() {
return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 40;
}

#sticks() { return this.options.stick() && this.isAtEnd(); }

setRows(rows, { index, place } = {}) {
const anchor = this.#anchor();
this.rows = rows;
this.#valid = false;
if (place === "end") this.toEnd();
else if (place) this.toIndex(index, place);
else this.layout(anchor);
}

invalidate() {
for (const entry of this.#elements.values()) entry.signature = null;
this.layout();
}

toEnd() {
this.#following = this.options.stick();
this.layout({ end: true });
}

toIndex(index, place = "center") {
if (index < 0 || index >= this.rows.length) return null;
this.#following = false;
this.layout({ key: this.options.key(this.rows[index]), index, place });
if (this.#sticks()) this.#following = true;
return this.element(this.options.key(this.rows[index]));
}

element(key) {
return this.#elements.get(key)?.element ?? null;
}

lastVisible() {
this.#measure();
return this.#indexAt(this.scroller.scrollTop - this.#lead() + this.scroller.clientHeight - 4);
}

firstVisible() {
this.#measure();
return this.#indexAt(this.scroller.scrollTop - this.#lead());
}

get count() {
return this.#elements.size;
}

schedule() { this.#scheduled(); }

layout(anchor = this.#anchor()) {
const view = this.scroller.clientHeight;
if (this.closed || view === 0) return;
const goal = this.#following ? { end: true } : anchor ?? {};
let top = this.scroller.scrollTop - this.#lead();
for (let round = 0; round < 4; round += 1) {
this.#measure();
top = this.#topFor(goal, top, view);
const [first, last] = this.#place(top, view);
if (this.#readHeights()) {
this.#measure();
top = this.#topFor(goal, top, view);
this.#move(first);
}
this.#scroll(top);
const reached = this.scroller.scrollTop - this.#lead();
if (this.#covers(first, last, reached, view)) break;
top = reached;
}
}

#topFor({ end, key, index, delta, place }, top, view) {
const total = this.#offsets[this.rows.length];
if (end) return total - view;
const at = key === undefined ? -1 : this.#find(key, index);
if (at < 0) return top;
const [start, height] = [this.#offsets[at], this.#offsets[at + 1] - this.#offsets[at]];
if (place === undefined) return start - delta;
if (place === "start") return Math.min(start - 60, total - view);
if (place === "center") return Math.min(start - Math.max(40, (view - height) / 2), total - view);
if (start < top) return start - 8;
return start + height > top + view ? start + height - view + 8 : top;
}

#covers(first, last, top, view) {
const bottom = Math.min(top + view, this.#offsets[this.rows.length]);
return this.rows.length === 0 || ((first === 0 || this.#offsets[first] <= top) && (last === this.rows.length - 1 || this.#offsets[last + 1] >= bottom));
}

#scroll(top) {
const { scroller } = this;
const limit = Math.max(0, Math.min(top + this.#lead(), scroller.scrollHeight - scroller.clientHeight));
if (Math.abs(scroller.scrollTop - limit) < 0.5) return;
scroller.scrollTop = limit;
this.#ignored = scroller.scrollTop;
}

#lead() {
return this.container.offsetTop;
}

#anchor() {
if (!this.rows.length || !this.#valid) return null;
if (this.#following) return { end: true };
if (!this.options.anchored) return null;
const top = this.scroller.scrollTop - this.#lead();
const index = this.#indexAt(top);
return { key: this.options.key(this.rows[index]), index, delta: this.#offsets[index] - top };
}

#find(key, hint) {
const { rows, options } = this;
if (rows[hint] && options.key(rows[hint]) === key) return hint;
return rows.findIndex((row) => options.key(row) === key);
}

#measure() {
if (this.#valid) return;
const { rows, options } = this;
const offsets = new Float64Array(rows.length + 1);
let sum = 0;
for (let index = 0; index < rows.length; index += 1) {
offsets[index] = sum;
sum += this.#heights.get(options.key(rows[index])) ?? options.estimate;
}
offsets[rows.length] = sum;
this.#offsets = offsets;
this.#valid = true;
}

#indexAt(position) {
let low = 0;
let high = this.rows.length - 1;
while (low < high) {
const middle = (low + high + 1) >> 1;
if (this.#offsets[middle] <= position) low = middle;
else high = middle - 1;
}
return Math.max(0, low);
}

#range(top, view) {
const { rows, options } = this;
if (rows.length === 0) return [0, -1];
let [first, last] = [this.#indexAt(top - MARGIN), this.#indexAt(top + view + MARGIN)];
const [least, most] = [this.#indexAt(top - OVERSCAN), this.#indexAt(top + view + OVERSCAN)];
let left = AHEAD;
const isFree = (index) => this.#elements.has(options.key(rows[index])) || (left -= 1) >= 0;
while (last < most && isFree(last + 1)) last += 1;
while (first > least && isFree(first - 1)) first -= 1;
if (first > least || last < most) this.#scheduled();
return [first, last];
}

#place(top, view) {
const { rows, options } = this;
const [first, last] = this.#range(top, view);
const wanted = new Map();
for (let index = first; index <= last; index += 1) {
const row = rows[index];
const key = options.key(row);
const signature = options.signature(row, index);
let entry = this.#elements.get(key);
if (!entry || entry.row !== row || entry.signature !== signature) {
const element = options.render(row, index);
if (entry) replaceElement(entry.element, element);
entry = { element, row, signature };
}
wanted.set(key, entry);
}
for (const [key, entry] of this.#elements) if (!wanted.has(key)) entry.element.remove();
let at = this.slice.firstElementChild;
for (const { element } of wanted.values()) {
if (element === at) at = at.nextElementSibling;
else this.slice.insertBefore(element, at);
}
this.#elements = wanted;
this.#move(first);
options.onplace?.(first, last);
return [first, last];
}

#move(first) {
this.slice.style.transform = `translateY(${this.#offsets[first] ?? 0}px)`;
this.container.style.height = `${this.#offsets[this.rows.length]}px`;
}

#readHeights() {
let changed = false;
for (const [key, { element }] of this.#elements) {
const height = element.getBoundingClientRect().height;
if (Math.abs((this.#heights.get(key) ?? -1) - height) > 0.3) {
this.#heights.set(key, height);
changed = true;
}
}
if (changed) this.#valid = false;
return changed;
}
}

function replaceElement(former, element) {
const focused = former.contains(document.activeElement);
const label = focused ? document.activeElement.getAttribute("data-focus") : null;
former.replaceWith(element);
if (focused) (label ? element.querySelector(`[data-focus="${CSS.escape(label)}"]`) ?? element : element).focus?.({ preventScroll: true });
}
return { VirtualList };
})();
const $views_rows = (() => {

const { h } = $views_dom;
const { VirtualList } = $views_virtual;

class RowList {
#focus = null;

constructor(options) {
this.options = options;
this.content = h("div", { role: "list", "aria-label": options.label });
this.element = h("div", { class: `scroller ${options.className ?? ""}` }, this.content);
this.list = new VirtualList(this.element, this.content, {
key: options.key, estimate: options.estimate ?? 66, anchored: false,
signature: (row) => `${options.signature?.(row) ?? ""}|${this.#focus === options.key(row)}`,
render: (row) => this.#render(row),
onscroll: () => this.#near(),
});
this.element.addEventListener("keydown", (event) => this.#typed(event));
options.search?.addEventListener("keydown", (event) => {
if (event.key === "ArrowDown") this.focus();
else if (event.key === "Enter" && this.list.rows.length) this.options.choose(this.list.rows[0]);
else return;
event.preventDefault();
});
}

setRows(rows) {
if (!rows.some((row) => this.options.key(row) === this.#focus)) this.#focus = rows.length ? this.options.key(rows[0]) : null;
this.list.setRows(rows);
this.#near();
}

close() {
this.list.close();
}

#near() {
const { element } = this;
if (element.scrollHeight - element.scrollTop - element.clientHeight < 600) this.options.onend?.();
}

#render(row) {
const key = this.options.key(row);
const inner = this.options.render(row);
const button = inner.matches(".row") ? inner : inner.querySelector(".row");
button.tabIndex = this.#focus === key ? 0 : -1;
button.dataset.focus = "row";
button.addEventListener("click", () => { this.#focus = key; this.options.choose(row); });
button.addEventListener("contextmenu", (event) => {
if (!this.options.menu) return;
event.preventDefault();
this.options.menu(row, { x: event.clientX, y: event.clientY });
});
return h("div", { role: "listitem", "data-key": key }, inner);
}

focus() {
if (this.list.rows.length === 0) return false;
const index = this.list.rows.findIndex((row) => this.options.key(row) === this.#focus);
this.#move(Math.max(0, index));
return true;
}

#move(index) {
const row = this.list.rows[index];
if (!row) return;
this.#focus = this.options.key(row);
this.list.toIndex(index, "nearest");
this.list.layout();
this.list.element(this.#focus)?.querySelector(".row")?.focus({ preventScroll: true });
}

#typed(event) {
const key = event.target.closest("[data-key]")?.dataset.key;
const index = this.list.rows.findIndex((row) => String(this.options.key(row)) === key);
if (index < 0) return;
const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 }[event.key];
if (step) {
if (index === 0 && step < 0 && this.options.search) this.options.search.focus();
else this.#move(Math.max(0, Math.min(this.list.rows.length - 1, index + step)));
} else if (event.key === "Home") this.#move(0);
else if (event.key === "End") this.#move(this.list.rows.length - 1);
else if (this.options.menu && (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))) this.options.menu(this.list.rows[index], event.target);
else return;
event.preventDefault();
}
}
return { RowList };
})();
const $views_pickers = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { headAvatar, userAvatar } = $views_avatar;
const { openDialog, switchRow } = $views_dialog;
const { lookalikeMark } = $views_lookalike;
const { RowList } = $views_rows;
const { attempt } = $views_toast;
const { byName, headTitle, matches, userName } = $views_model;
const { t } = $i18n_index;

function searchField(label, extra = {}) {
const input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: label, "aria-label": label, autocomplete: "off", autofocus: true, ...extra });
return { input, element: h("div", { class: "search-box" }, icon("search"), input) };
}

function personRow(state, user, { sub = `@${user.name}`, end = null, chosen = null } = {}) {
return h("button", { type: "button", class: "row compact person", "data-user": user.name, "aria-pressed": chosen === null ? null : String(chosen) },
userAvatar(state, user, { size: "m", online: user.online }),
h("span", { class: "lines" }, h("span", { class: "line" }, h("span", { class: "title ellipsis" }, userName(state, user.name)), lookalikeMark(state, user.name)), h("span", { class: "sub ellipsis" }, sub)),
chosen === null ? null : h("span", { class: "choice-mark", "aria-hidden": "true" }, chosen ? icon("check") : null), end);
}

class PeopleList {
#people = [];
#page = null;
#loading = false;
#query = "";

constructor(app, { choose, render, signature, exclude = () => false, label = t("searchPeople"), empty = null }) {
this.state = app.state;
this.exclude = exclude;
this.field = searchField(label, { id: "find-people" });
this.rows = new RowList({
label: t("people"), className: "people", estimate: 56, search: this.field.input,
key: (row) => row.user.name, choose: (row) => choose(row.user),
render: (row) => (render ?? ((user) => personRow(this.state, user)))(row.user), signature: (row) => signature?.(row.user) ?? "",
onend: () => this.#more(),
});
this.none = empty;
this.empty = h("div", { class: "empty", hidden: true });
this.rows.element.append(this.empty);
let timer = 0;
this.field.input.addEventListener("input", () => {
clearTimeout(timer);
this.#start(false);
timer = setTimeout(() => this.#start(true), 180);
});
}

show() {
this.#start(false);
}

refresh() {
this.rows.list.layout();
}

close() {
this.rows.close();
}

#start(remote) {
this.#query = this.field.input.value.trim().replace(/^@/, "");
this.#page = null;
const contacts = this.state.contacts().filter((contact) => matches(contact, this.#query)).sort(byName(this.state)).map(({ user }) => user);
this.#set(contacts);
if (remote && this.#query) {
this.#page = undefined;
this.#more();
}
}

#set(users) {
const seen = new Set();
this.#people = users.filter((user) => !seen.has(user.name) && seen.add(user.name) && !this.exclude(user));
this.rows.setRows(this.#people.map((user) => ({ user })));
this.empty.hidden = this.#people.length > 0 || this.#page !== null;
const none = this.#query ? { title: t("noResults"), hint: t("noPeopleHint") } : this.none ?? { hint: t("noContactsHint") };
replace(this.empty, none?.title ? h("h2", {}, none.title) : null, h("p", {}, none?.hint ?? t("noResults")));
}

async #more() {
if (this.#loading || this.#page === null || this.#page === "") return;
this.#loading = true;
const query = this.#query;
const answer = await attempt(this.state.people(query, this.#page));
this.#loading = false;
if (query !== this.#query) {
if (this.#query) this.#more();
return;
}
this.#page = answer?.page ?? null;
this.#set([...this.#people, ...(answer?.users ?? [])]);
}
}

function choosePerson(app, title) {
return new Promise((resolve) => {
let chosen = null;
const people = new PeopleList(app, { choose: (user) => { chosen = user; dialog.close(); } });
const dialog = openDialog(title, [h("div", { class: "pad" }, people.field.element), people.rows.element], { onclose: () => { people.close(); resolve(chosen); } });
people.show();
});
}

function chooseConversation(app, title, { switches = {} } = {}) {
const { state } = app;
return new Promise((resolve) => {
let chosen = null;
const choices = {};
const { input, element } = searchField(t("search"));
const rows = new RowList({
label: t("chatList"), className: "people", estimate: 56, search: input, key: (head) => head.conv,
choose: (head) => { chosen = { conv: head.conv, ...choices }; dialog.close(); },
render: (head) => h("button", { type: "button", class: "row compact" }, headAvatar(state, head, { size: "m" }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, headTitle(state, head)))),
});
const show = () => rows.setRows(state.conversations({ filter: "all", query: input.value.trim() }).filter((head) => !head.state || head.state === "joined"));
input.addEventListener("input", show);
const dialog = openDialog(title, [h("div", { class: "pad" }, element, Object.entries(switches).map(([name, label]) => switchRow(label, false, (on) => { choices[name] = on; }))), rows.element], { onclose: () => { rows.close(); resolve(chosen); } });
show();
});
}
return { searchField, personRow, PeopleList, choosePerson, chooseConversation };
})();
const $text_emoji = (() => {

const DATA = {
smileys: "😀 grinning 笑脸,😃 smiley 开心,😄 smile 大笑,😁 grin 咧嘴笑,😆 laughing 哈哈,😅 sweat_smile 苦笑,🤣 rofl 笑倒,😂 joy 笑哭,🙂 slight_smile 微笑,🙃 upside_down 倒脸,😉 wink 眨眼,😊 blush 害羞,😇 innocent 天使,🥰 in_love 爱意,😍 heart_eyes 花痴,🤩 star_struck 星星眼,😘 kissing_heart 飞吻,😋 yum 好吃,😛 tongue 吐舌,😜 wink_tongue 调皮,🤗 hug 抱抱,🤭 giggle 捂嘴笑,🤔 thinking 思考,🤐 zipper 闭嘴,🤨 raised_eyebrow 怀疑,😐 neutral 无语,😑 expressionless 面无表情,😶 no_mouth 沉默,😏 smirk 得意,😒 unamused 不屑,🙄 eye_roll 白眼,😬 grimace 尴尬,😌 relieved 放松,😔 pensive 失落,😪 sleepy 困,😴 sleeping 睡觉,😷 mask 口罩,🤒 ill 发烧,🤧 sneeze 打喷嚏,🥵 hot 热,🥶 cold 冷,😵 dizzy 晕,🤯 mind_blown 震惊,🤠 cowboy 牛仔,🥳 party 庆祝,😎 sunglasses 墨镜,🤓 nerd 书呆子,😕 confused 困惑,😟 worried 担心,🙁 frown 难过,😮 open_mouth 惊讶,😲 astonished 吃惊,😳 flushed 脸红,🥺 pleading 可怜,😨 fearful 害怕,😰 anxious 焦虑,😥 sad_relieved 伤心,😢 cry 流泪,😭 sob 大哭,😱 scream 尖叫,😖 confounded 纠结,😞 disappointed 失望,😓 sweat 冒汗,😩 weary 疲惫,🥱 yawn 哈欠,😤 triumph 哼,😡 rage 暴怒,😠 angry 生气,🤬 swearing 骂人,😈 imp 小恶魔,💀 skull 骷髅,💩 poop 便便,🤡 clown 小丑,👻 ghost 鬼,👽 alien 外星人,🤖 robot 机器人",
people: "👋 wave 挥手,🤚 raised_back 手背,✋ hand 手掌,👌 ok 好的,🤌 pinched 捏手指,✌️ victory 胜利,🤞 fingers_crossed 祈祷好运,🤟 love_you 爱你,🤘 metal 摇滚,🤙 call_me 打电话,👈 left 左,👉 right 右,👆 point_up 上,👇 point_down 下,👍 thumbsup 赞,👎 thumbsdown 踩,✊ fist 拳头,👊 punch 出拳,👏 clap 鼓掌,🙌 raised_hands 举手庆祝,👐 open_hands 张开手,🤝 handshake 握手,🙏 pray 合十,✍️ writing 写字,💪 muscle 肌肉,👀 eyes 眼睛,🧠 brain 大脑,👶 baby 婴儿,👧 girl 女孩,👦 boy 男孩,👩 woman 女人,👨 man 男人,👵 grandma 奶奶,👴 grandpa 爷爷,🙋 raising_hand 举手,🤷 shrug 耸肩,🤦 facepalm 捂脸,💃 dancer 跳舞,🏃 runner 跑步,🚶 walking 走路,👨‍👩‍👧 family 家庭,🧑‍💻 technologist 程序员",
nature: "🐶 dog 狗,🐱 cat 猫,🐭 mouse 老鼠,🐹 hamster 仓鼠,🐰 rabbit 兔子,🦊 fox 狐狸,🐻 bear 熊,🐼 panda 熊猫,🐯 tiger 老虎,🦁 lion 狮子,🐮 cow 牛,🐷 pig 猪,🐸 frog 青蛙,🐵 monkey 猴子,🐔 chicken 鸡,🐧 penguin 企鹅,🐦 bird 鸟,🦅 eagle 鹰,🦉 owl 猫头鹰,🐺 wolf 狼,🐴 horse 马,🦄 unicorn 独角兽,🐝 bee 蜜蜂,🦋 butterfly 蝴蝶,🐌 snail 蜗牛,🐢 turtle 乌龟,🐍 snake 蛇,🐙 octopus 章鱼,🐟 fish 鱼,🐬 dolphin 海豚,🐳 whale 鲸鱼,🌵 cactus 仙人掌,🌲 evergreen 松树,🌴 palm 棕榈,🌱 seedling 幼苗,🍀 clover 四叶草,🌸 blossom 樱花,🌹 rose 玫瑰,🌻 sunflower 向日葵,🌍 earth 地球,🌙 moon 月亮,⭐ star 星星,🌟 glowing_star 闪亮星星,⚡ zap 闪电,🔥 fire 火,🌈 rainbow 彩虹,☀️ sun 太阳,⛅ cloud 多云,🌧️ rain 下雨,❄️ snowflake 雪花,☃️ snowman 雪人,💧 droplet 水滴,🌊 ocean 海浪",
food: "🍏 apple 苹果,🍐 pear 梨,🍊 orange 橙子,🍋 lemon 柠檬,🍌 banana 香蕉,🍉 watermelon 西瓜,🍇 grapes 葡萄,🍓 strawberry 草莓,🍒 cherries 樱桃,🍑 peach 桃子,🥝 kiwi 猕猴桃,🍅 tomato 番茄,🥑 avocado 牛油果,🥦 broccoli 西兰花,🌽 corn 玉米,🥕 carrot 胡萝卜,🥔 potato 土豆,🍞 bread 面包,🥐 croissant 牛角包,🧀 cheese 奶酪,🥚 egg 鸡蛋,🍳 cooking 煎蛋,🥓 bacon 培根,🍔 burger 汉堡,🍟 fries 薯条,🍕 pizza 披萨,🌭 hotdog 热狗,🥪 sandwich 三明治,🌮 taco 玉米卷,🥗 salad 沙拉,🍝 spaghetti 意大利面,🍜 noodles 面条,🍣 sushi 寿司,🥟 dumpling 饺子,🍚 rice 米饭,🍦 ice_cream 冰淇淋,🍰 cake 蛋糕,🎂 birthday 生日,🍫 chocolate 巧克力,🍿 popcorn 爆米花,☕ coffee 咖啡,🍵 tea 茶,🧋 bubble_tea 奶茶,🍺 beer 啤酒,🍻 beers 干杯啤酒,🍷 wine 红酒,🥂 cheers 碰杯,🍹 cocktail 鸡尾酒",
activities: "⚽ soccer 足球,🏀 basketball 篮球,🏈 football 橄榄球,🎾 tennis 网球,🏐 volleyball 排球,🏓 ping_pong 乒乓球,🏸 badminton 羽毛球,🥊 boxing 拳击,⛳ golf 高尔夫,🎣 fishing 钓鱼,🎿 ski 滑雪,🏂 snowboard 滑雪板,🚴 cyclist 骑车,🏊 swimmer 游泳,🚣 rowing 划船,🧗 climbing 攀岩,🏆 trophy 奖杯,🥇 gold 金牌,🎯 dart 飞镖,🎮 game 游戏,🎲 die 骰子,🧩 puzzle 拼图,🎨 art 画画,🎬 film 电影,🎤 microphone 麦克风,🎧 headphones 耳机,🎸 guitar 吉他,🎹 piano 钢琴,🎻 violin 小提琴,🎉 tada 撒花,🎈 balloon 气球,🎁 gift 礼物,🎄 christmas_tree 圣诞树,🧧 red_envelope 红包,🏮 lantern 灯笼",
travel: "🚗 car 汽车,🚕 taxi 出租车,🚌 bus 公交车,🚲 bicycle 自行车,🛵 scooter 摩托车,🚂 train 火车,🚇 metro 地铁,✈️ plane 飞机,🚀 rocket 火箭,⛵ sailboat 帆船,🚢 ship 轮船,⚓ anchor 船锚,🚦 traffic_light 红绿灯,🗺️ map 地图,🏠 house 房子,🏢 office 办公楼,🏥 hospital 医院,🏫 school 学校,🏖️ beach 沙滩,🏝️ island 海岛,⛰️ mountain 山,🏕️ camping 露营,🌃 night 夜晚,🌅 sunrise 日出,🗼 tower 铁塔,🎡 ferris_wheel 摩天轮",
objects: "⌚ watch 手表,📱 phone 手机,💻 laptop 电脑,⌨️ keyboard 键盘,🖨️ printer 打印机,📷 camera 相机,📺 tv 电视,💡 bulb 灯泡,🔋 battery 电池,🔌 plug 插头,💰 money 钱,💳 card 银行卡,🔧 wrench 扳手,🔨 hammer 锤子,🔒 lock 锁,🔑 key 钥匙,📦 package 包裹,✉️ envelope 信封,📧 email 邮件,📅 date 日历,📌 pushpin 图钉,📎 paperclip 回形针,✂️ scissors 剪刀,📝 memo 备忘录,📚 books 书,📈 chart_up 上涨,📉 chart_down 下跌,🔍 search 搜索,🧪 test_tube 试管,💊 pill 药,🩺 stethoscope 听诊器,🛒 cart 购物车,⏰ alarm 闹钟,⏳ hourglass 沙漏",
symbols: "❤️ heart 爱心,🧡 orange_heart 橙心,💛 yellow_heart 黄心,💚 green_heart 绿心,💙 blue_heart 蓝心,💜 purple_heart 紫心,🖤 black_heart 黑心,💔 broken_heart 心碎,💕 hearts 两颗心,💯 hundred 满分,✅ check 对勾,☑️ ballot 选中,❌ x 错误,❗ exclamation 感叹号,❓ question 问号,⚠️ warning 警告,🚫 prohibited 禁止,♻️ recycle 回收,➕ plus 加号,➖ minus 减号,💤 zzz 睡着,💬 speech 对话,🔔 bell 铃铛,🔕 no_bell 静音,🎵 note 音符,✨ sparkles 闪光,🔴 red 红色,🟢 green 绿色,🔵 blue 蓝色,🏁 finish 终点",
};

const EMOJI = Object.entries(DATA).map(([key, list]) => ({
key,
items: list.split(",").map((entry) => {
const [face, name, zh] = entry.split(" ");
return { face, name, zh };
}),
}));

const ALL = EMOJI.flatMap((group) => group.items);
const BY_NAME = new Map([...ALL.map((item) => [item.zh, item.face]), ...ALL.map((item) => [item.name, item.face]), ["+1", "👍"], ["-1", "👎"], ["love", "❤️"], ["lol", "😂"]]);

function findEmoji(text, limit = 8) {
const words = text.toLowerCase().split(/[\s_]+/).filter(Boolean);
const found = ALL.filter(({ name, zh }) => words.every((word) => name.includes(word) || zh.includes(word)));
const rank = ({ name, zh }) => (name.startsWith(words[0]) || zh.startsWith(words[0]) ? 0 : 1);
return found.sort((one, other) => rank(one) - rank(other)).slice(0, limit);
}

function replaceShortcodes(text) {
return text.replace(/[:：]([a-z0-9_+-]{1,24}|\p{Script=Han}{1,6})[:：]/gu, (whole, name) => BY_NAME.get(name) ?? whole);
}

const ONLY_EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Component}|\s)+$/u;

function isBigEmoji(text) {
if (text.length > 40 || !ONLY_EMOJI.test(text) || /^[\d\s#*]+$/.test(text)) return false;
const parts = typeof Intl.Segmenter === "function" ? [...new Intl.Segmenter().segment(text.replace(/\s/g, ""))].length : [...text].length;
return parts >= 1 && parts <= 3;
}

const QUICK_REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢"];
return { EMOJI, findEmoji, replaceShortcodes, isBigEmoji, QUICK_REACTIONS };
})();
const $text_markdown = (() => {

const { replaceShortcodes } = $text_emoji;

const ADDRESS_SOURCE = "https?:\\/\\/[^\\s<>\"'“”‘’，。；！？、（）【】《》]+";
const LINK = new RegExp(`\\b${ADDRESS_SOURCE}`, "giu");
const ADDRESS = new RegExp(ADDRESS_SOURCE, "iuy");
const ADDRESS_END = /[\s<>"'“”‘’，。；！？、（）【】《》]/u;
const NAME = /@([\p{L}\p{N}._-]{1,32})/gu;
const SCHEMES = /^(https?|mailto|tel|xmpp):/i;
const INLINE = [
{ mark: "**", type: "bold" },
{ mark: "__", type: "underline" },
{ mark: "~~", type: "strike" },
{ mark: "||", type: "spoiler" },
{ mark: "*", type: "italic" },
{ mark: "_", type: "italic" },
];
const DEPTH = 32;
const PLAIN = /[^\\`[*_~|hH]+/y;
const FENCE = /```([\w+#.-]{0,30})[ \t]*\n/y;
const FENCED = /([\s\S]*?)\n?```[ \t]*(?:\n|$)/y;
const QUOTE = /(?:> ?[^\n]*(?:\n|$))+/y;
const LIST = /(?:(?:[-*•]|\d{1,3}[.)]) [^\n]+(?:\n|$))+/y;
const BLOCK = /\n(?=```|> |[-*•] |\d{1,3}[.)] )/g;

function matching(pattern, text, index) {
pattern.lastIndex = index;
return pattern.exec(text);
}

const count = (text) => {
let scalars = 0;
for (const _ of text) scalars += 1;
return scalars;
};

function linkEnd(address) {
let end = address.length;
while (end > 0 && ".,:;!?)]}".includes(address[end - 1])) end -= 1;
return address.slice(0, address[end] === ")" && address.includes("(") ? end + 1 : end);
}

function isSafeURL(url) {
return SCHEMES.test(url) && !/[\s"<>\\`]|\p{Cc}|\p{Default_Ignorable_Code_Point}/u.test(url);
}

function parseMarkdown(source, { mentions = new Map(), all = new Set(["all"]) } = {}) {
const out = { text: "", length: 0, entities: [] };
const add = (text) => {
out.text += text;
out.length += count(text);
};
const entity = (type, offset, extra = {}) => {
if (out.length > offset) out.entities.push({ type, offset, length: out.length - offset, ...extra });
};

const inline = (text, depth = 1) => {
let index = 0;
let plain = 0;
const find = finder(text);
const flush = () => {
if (plain < index) linked(text.slice(plain, index));
};
while (index < text.length) {
const skipped = matching(PLAIN, text, index);
if (skipped) {
index += skipped[0].length;
continue;
}
const escaped = isEscape(text, index);
const code = escaped ? -1 : find.code(index);
const link = escaped || code >= 0 ? null : find.link(index);
if (escaped || code >= 0 || link) {
flush();
const offset = out.length;
if (escaped) add(text[index + 1]);
else if (link) inlinePlain(link.title);
else add(text.slice(index + 1, code));
if (code >= 0) entity("code", offset);
if (link) entity("link", offset, { url: link.url });
plain = index = link ? link.end : escaped ? index + 2 : code + 1;
continue;
}
const address = plain < index && /\w/.test(text[index - 1]) ? null : matching(ADDRESS, text, index);
if (address) {
index += address[0].length;
continue;
}
const range = depth < DEPTH ? find.range(index) : null;
if (range) {
flush();
const offset = out.length;
inline(text.slice(range.start, range.end), depth + 1);
entity(range.type, offset);
plain = index = range.end + (range.start - index);
continue;
}
index += 1;
}
flush();
};
const inlinePlain = (text) => add(replaceShortcodes(text));

const linked = (text) => {
let at = 0;
for (const match of text.matchAll(LINK)) {
mentioned(text.slice(at, match.index));
const url = linkEnd(match[0]);
const offset = out.length;
add(url);
if (count(url) <= 2000 && isSafeURL(url)) entity("link", offset, { url });
at = match.index + url.length;
}
mentioned(text.slice(at));
};

const mentioned = (source) => {
const text = replaceShortcodes(source);
let at = 0;
for (const match of text.matchAll(NAME)) {
const before = match.index ? text[match.index - 1] : " ";
if (/[\p{Script=Latin}\p{N}]/u.test(before)) continue;
let name = match[1];
while (name && !mentions.has(name.toLowerCase()) && !all.has(name.toLowerCase())) name = [...name].slice(0, -1).join("");
if (!name) continue;
add(text.slice(at, match.index));
const offset = out.length;
add(`@${name}`);
if (mentions.has(name.toLowerCase())) entity("mention", offset, { user: mentions.get(name.toLowerCase()) });
else entity("all", offset);
at = match.index + 1 + name.length;
}
add(text.slice(at));
};

const lines = (type, content) => {
const offset = out.length;
inline(content.replace(/\n$/, ""));
entity(type, offset);
};
const text = source.replace(/\r\n?/g, "\n").trim();
let isFenced = true;
for (let index = 0; index < text.length;) {
const fence = isFenced ? matching(FENCE, text, index) : null;
const block = fence ? matching(FENCED, text, FENCE.lastIndex) : null;
if (fence && !block) isFenced = false;
const quote = block?.[1] ? null : matching(QUOTE, text, index);
const list = block?.[1] || quote ? null : matching(LIST, text, index);
if (block?.[1]) {
const offset = out.length;
add(block[1]);
entity("pre", offset, fence[1] ? { language: fence[1] } : {});
index = FENCED.lastIndex;
} else if (quote) {
lines("quote", quote[0].replace(/^> ?/gm, ""));
index += quote[0].length;
} else if (list) {
lines("list", list[0].replace(/^[-*] /gm, "• "));
index += list[0].length;
} else {
const end = matching(BLOCK, text, index) ? BLOCK.lastIndex : text.length;
inline(text.slice(index, end));
index = end;
continue;
}
if (index < text.length) add("\n");
}
out.entities.sort((one, other) => one.offset - other.offset || other.length - one.length);
return { text: out.text, entities: out.entities };
}

function namesIn(text) {
return [...new Set([...text.matchAll(NAME)].map(([, name]) => name.toLowerCase().replace(/[._-]+$/, "")))].filter(Boolean);
}

const ESCAPED_ITEM = /(?:^|\n)(?:\\[-•]|\d{1,3}\\[.)]) $/;

const isEscape = (text, index) => text[index] === "\\" && index + 1 < text.length
&& ("\\*_~|`[]@>:：".includes(text[index + 1]) || (text[index + 2] === " " && ESCAPED_ITEM.test(text.slice(Math.max(0, index - 4), index + 3))));

const CLOSING = INLINE.map(({ mark }) => new RegExp(`\\\\[\\\\*_~|\`[\\]@>:：]|${mark.replace(/[*|]/g, "\\$&")}`, "g"));
const TARGET = /\(([^\s()]{1,2000})\)/y;

function finder(text) {
const unclosed = INLINE.map(() => 0);
const bracket = after("]");
const blank = after("\n\n");
let target = null;
let targeted = -1;

function after(part) {
let found = -1;
return (index) => {
if (found < index) found = text.indexOf(part, index);
return found < 0 ? (found = Infinity) : found;
};
}

function code(index) {
const end = text[index] === "`" ? text.indexOf("`", index + 1) : -1;
return end > index + 1 && !text.slice(index, end).includes("\n") ? end : -1;
}

function link(index) {
if (text[index] !== "[") return null;
const close = bracket(index);
const length = close - index - 1;
if (length < 1 || length > 200) return null;
const title = text.slice(index + 1, close);
if (title.includes("\n")) return null;
if (targeted !== close) {
targeted = close;
target = matching(TARGET, text, close + 1)?.[1] ?? null;
}
return target && isSafeURL(target) ? { title, url: target, end: close + target.length + 3 } : null;
}

function range(index) {
const before = index ? text[index - 1] : " ";
for (let each = 0; each < INLINE.length; each += 1) {
const { mark, type } = INLINE[each];
const start = index + mark.length;
if (!text.startsWith(mark, index) || start < unclosed[each] || /\s/.test(text[start] ?? " ")) continue;
if (mark[0] === "_" && /[\p{L}\p{N}]/u.test(before)) continue;
const end = closing(each, start);
if (end >= 0) return { type, start, end };
}
return null;
}

function closing(each, start) {
const { mark } = INLINE[each];
const limit = blank(start);
let at = start;
let escaped = at;
for (;;) {
let match = matching(CLOSING[each], text, at);
for (; match?.[0][0] === "\\"; match = CLOSING[each].exec(text)) escaped = CLOSING[each].lastIndex;
let end = match ? match.index : text.length;
if (match && mark.length === 2) while (text[end + 2] === mark[0]) end += 1;
if (!match || limit + 2 <= end) {
unclosed[each] = Math.min(limit, end);
return -1;
}
const doubled = mark.length === 1 && (text[end + 1] === mark || (end > escaped && text[end - 1] === mark));
const word = mark[0] === "_" && /[\p{L}\p{N}]/u.test(text[end + mark.length] ?? " ");
if (end > start && !/\s/.test(text[end - 1]) && !doubled && !word) return end;
at = end + (doubled ? 2 : 1);
}
}

return { code, link, range };
}
return { LINK, ADDRESS, ADDRESS_END, linkEnd, isSafeURL, parseMarkdown, namesIn };
})();
const $text_render = (() => {

const { h } = $views_dom;
const { isSafeURL, LINK, linkEnd } = $text_markdown;

const BLOCKS = new Set(["pre", "quote", "list"]);
const SIMPLE = { bold: "strong", italic: "em", underline: "u", strike: "s", code: "code" };

function renderText(text, entities = [], context = {}) {
const scalars = [...text];
const usable = entities
.filter(({ offset, length }) => Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length > 0 && offset + length <= scalars.length)
.sort((one, other) => one.offset - other.offset || other.length - one.length)
.slice(0, 200);
return range(scalars, 0, scalars.length, usable, context, 0);
}

function range(scalars, start, end, entities, context, depth) {
const nodes = [];
let at = start;
let index = 0;
while (index < entities.length) {
const entity = entities[index];
index += 1;
const stop = entity.offset + entity.length;
if (entity.offset < at || stop > end || depth > 16) continue;
const inside = [];
while (index < entities.length && entities[index].offset < stop) inside.push(entities[index++]);
if (entity.offset > at) nodes.push(...plain(scalars.slice(at, entity.offset).join(""), depth));
nodes.push(element(entity, range(scalars, entity.offset, stop, inside, context, depth + 1), context));
at = stop;
if (BLOCKS.has(entity.type) && scalars[at] === "\n") at += 1;
}
if (at < end) nodes.push(...plain(scalars.slice(at, end).join(""), depth));
return nodes;
}

function plain(text, depth) {
if (depth > 0 || !text.includes("://")) return [text];
const nodes = [];
let at = 0;
for (const match of text.matchAll(LINK)) {
const url = linkEnd(match[0]);
nodes.push(text.slice(at, match.index), element({ type: "link", url }, [url], {}));
at = match.index + url.length;
}
nodes.push(text.slice(at));
return nodes.filter(Boolean);
}

function element(entity, children, context) {
const { type } = entity;
if (SIMPLE[type]) return h(SIMPLE[type], {}, children);
if (type === "pre") return h("pre", { tabindex: "0" }, h("code", { "data-language": entity.language }, children));
if (type === "list") return h("span", { class: "listed" }, children);
if (type === "quote") return h("span", { class: "quoted", role: "blockquote" }, children);
if (type === "spoiler") return spoiler(children, context);
if (type === "link") {
const url = entity.url ?? "";
return isSafeURL(url) ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, children) : h("span", {}, children);
}
if (type === "mention" || type === "all") {
const me = type === "all" || entity.user === context.me;
const open = entity.user && context.open;
return h(open ? "button" : "span", { class: me ? "mention me" : "mention", type: open ? "button" : null, onclick: open ? () => context.open(entity.user) : null }, children);
}
return h("span", {}, children);
}

function spoiler(children, context) {
const shown = h("button", { type: "button", class: "spoiler", "aria-expanded": "false", "aria-label": context.spoiler ?? "Spoiler" }, children);
shown.addEventListener("click", () => {
shown.classList.toggle("open");
shown.setAttribute("aria-expanded", String(shown.classList.contains("open")));
if (shown.classList.contains("open")) shown.removeAttribute("aria-label");
});
return shown;
}

function highlight(text, ranges = []) {
const scalars = [...text];
const nodes = [];
let at = 0;
for (const { offset, length } of ranges) {
if (offset < at || offset + length > scalars.length) continue;
nodes.push(scalars.slice(at, offset).join(""), h("mark", {}, scalars.slice(offset, offset + length).join("")));
at = offset + length;
}
nodes.push(scalars.slice(at).join(""));
return nodes.filter(Boolean);
}
return { renderText, highlight };
})();
const $views_search = (() => {

const { h } = $views_dom;
const { headAvatar, userAvatar } = $views_avatar;
const { openDialog } = $views_dialog;
const { searchField } = $views_pickers;
const { withPanels } = $views_later;
const { RowList } = $views_rows;
const { actorName, byName, errorText, eventText, headTitle, matches, userName } = $views_model;
const { highlight } = $text_render;
const { listTime } = $i18n_format;
const { t } = $i18n_index;

function hitRow(state, { event, snippet, ranges }) {
const head = state.conversation(event.conv);
const title = head ? headTitle(state, head) : userName(state, event.sender);
return h("button", { type: "button", class: "row", "data-hit": event.seq }, head ? headAvatar(state, head, { size: "m" }) : userAvatar(state, { name: event.sender }, { size: "m" }),
h("span", { class: "lines" }, h("span", { class: "line" }, h("span", { class: "title ellipsis" }, title), h("span", { class: "spring" }), h("span", { class: "time" }, listTime(event.at))),
h("span", { class: "preview ellipsis" }, h("span", { class: "who" }, `${actorName(state, event.sender)}${t("colon")}`), snippet ? highlight(snippet, ranges) : eventText(state, event))));
}

function openSearch(app, { conv = null, query = "", quick = false } = {}) {
const { state } = app;
const { input, element } = searchField(t(quick ? "quickJump" : "searchChats"), { value: query });
const filters = { conv };
const status = h("div", { class: "section-title small muted", role: "status" });
let hits = null;
let request = 0;
let timer = 0;

const changed = (values) => { Object.assign(filters, values); start(); };
const bar = h("div", { class: "search-filters" });
if (!quick) withPanels(({ searchFilters }) => bar.append(...searchFilters(app, conv, changed)));

const rows = new RowList({
label: t("search"), className: "results", estimate: 64, search: input, key: (row) => row.key, render, choose,
onend: async () => {
if (!hits?.hasMore || hits.loading) return;
hits.loading = true;
const current = request;
try {
const next = await hits.more();
if (current === request) show(hits = next);
} catch { hits.hasMore = false; }
},
});

function render(row) {
if (row.head) return h("button", { type: "button", class: "row compact" }, headAvatar(state, row.head, { size: "m" }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, headTitle(state, row.head))));
if (row.user) return h("button", { type: "button", class: "row compact" }, userAvatar(state, row.user, { size: "m", online: row.user.online }), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, userName(state, row.user.name)), h("span", { class: "sub ellipsis" }, `@${row.user.name}`)));
return hitRow(state, row.hit);
}

function choose(row) {
dialog.close();
if (row.head) app.openConversation(row.head.conv);
else if (row.user) app.openPerson(row.user.name);
else app.openConversation(row.hit.event.conv, { seq: row.hit.event.seq });
}

function isFiltered() {
return Object.values(filters).some((value) => value !== undefined && value !== null);
}

function local() {
const words = input.value.trim();
if (isFiltered()) return [];
const heads = state.conversations({ filter: "all", query: words });
const paired = new Set(heads.map((head) => head.peer?.name));
const people = words ? state.contacts().filter((contact) => matches(contact, words) && !paired.has(contact.user.name)).sort(byName(state)) : [];
return [...heads.slice(0, quick ? 12 : 5).map((head) => ({ key: `c${head.conv}`, head })), ...people.slice(0, 5).map(({ user }) => ({ key: `u${user.name}`, user }))];
}

function show(found) {
const messages = (found?.hits ?? []).map((hit) => ({ key: `m${hit.event.conv}/${hit.event.seq}`, hit }));
const first = local();
const known = new Set(first.map((row) => row.key));
const others = isFiltered() ? [] : (found?.people ?? []).filter((user) => !known.has(`u${user.name}`) && !first.some(({ head }) => head?.peer?.name === user.name)).slice(0, 5).map((user) => ({ key: `u${user.name}`, user }));
const all = [...first, ...others, ...messages];
rows.setRows(all);
const result = all.length ? t("resultCount", { n: all.length, more: found?.hasMore ? "+" : "" }) : `${t("noResults")}. ${t("noResultsHint")}`;
status.textContent = !found ? "" : found.isLocal ? [result, state.connection?.state === "online" ? null : t("offlineShort"), t("searchLocal")].filter(Boolean).join(" · ") : result;
}

async function start() {
clearTimeout(timer);
const current = ++request;
const words = input.value.trim();
hits = null;
show(null);
if (!words) return;
status.textContent = t("loading");
try {
const found = await state.search(words, { ...filters, conv: filters.conv ?? undefined });
if (current === request) show(hits = found);
} catch (error) {
if (current === request) status.textContent = errorText(error);
}
}

input.addEventListener("input", () => { show(null); clearTimeout(timer); timer = setTimeout(start, 160); });
const dialog = openDialog(t("search"), [h("div", { class: "pad" }, element, quick ? null : bar), status, rows.element], { wide: true, onclose: () => { request += 1; rows.close(); } });
start();
}
return { hitRow, openSearch };
})();
const $views_fields = (() => {

const { h } = $views_dom;

const submitting = (button, run) => async (event) => {
event.preventDefault();
button.disabled = true;
await run();
button.disabled = false;
};

function password(label, autocomplete) {
const input = h("input", { class: "input", type: "password", autocomplete, maxlength: "200" });
input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
return [input, h("label", { class: "field" }, label, input)];
}

function refusedPassword(error, input, text) {
error.textContent = text;
input.setAttribute("aria-invalid", "true");
input.focus();
}
return { submitting, password, refusedPassword };
})();
const $views_requests = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { openDialog } = $views_dialog;
const { submitting } = $views_fields;
const { lookalikeNote } = $views_lookalike;
const { attempt, toast } = $views_toast;
const { userName } = $views_model;
const { listTime } = $i18n_format;
const { t } = $i18n_index;

const LONGEST = 200;

const byTime = (one, other) => (other.at ?? 0) - (one.at ?? 0) || (one.user.name < other.user.name ? -1 : 1);

const incoming = (state) => state.contacts("asked").sort(byTime);

const outgoing = (state) => state.contacts("asking").sort(byTime);

async function answerRequest(state, name, accept) {
if (await attempt(state.answerContact(name, accept)) === undefined) return;
toast(t(accept ? "requestAccepted" : "requestDeclined", { name: userName(state, name) }), { seconds: 3 });
}

async function takeBack(state, name) {
if (await attempt(state.removeContact(name)) !== undefined) toast(t("requestTakenBack"), { seconds: 3 });
}

function showRequests(app, element) {
const { state } = app;
const [asked, asking] = [incoming(state), outgoing(state)];
replace(element,
asked.length ? [h("h3", { class: "list-title" }, t("contactRequests")), h("ul", {}, asked.map((contact) => incomingRow(app, contact)))] : null,
asking.length ? [h("h3", { class: "list-title" }, t("sentRequests")), h("ul", {}, asking.map((contact) => outgoingRow(app, contact)))] : null,
asked.length || asking.length ? h("h3", { class: "list-title" }, t("contacts")) : null);
}

function incomingRow(app, { user, text, at }) {
const { state } = app;
const shown = userName(state, user.name);
const button = (accept, look, label) => h("button", { type: "button", class: `button small ${look}`, "aria-label": `${label}${t("colon")}${shown}`, onclick: () => answerRequest(state, user.name, accept) }, label);
return h("li", { class: "request", "data-user": user.name },
h("button", { type: "button", class: "face", "aria-label": `${t("profile")}${t("colon")}${shown}`, onclick: () => app.openProfile(user.name) }, userAvatar(state, user, { size: "m" })),
h("div", { class: "lines" },
h("div", { class: "line" }, h("span", { class: "title ellipsis" }, shown), h("span", { class: "sub ellipsis" }, `@${user.name}`), h("span", { class: "spring" }), at ? h("time", { class: "time" }, listTime(at)) : null),
text ? h("p", { class: "said" }, text) : null,
lookalikeNote(state, user.name),
h("div", { class: "button-row" }, button(true, "primary", t("accept")), button(false, "", t("decline")))));
}

function outgoingRow(app, { user, at }) {
const { state } = app;
const shown = userName(state, user.name);
return h("li", { class: "request", "data-user": user.name },
h("button", { type: "button", class: "face", "aria-label": `${t("profile")}${t("colon")}${shown}`, onclick: () => app.openProfile(user.name) }, userAvatar(state, user, { size: "m" })),
h("div", { class: "lines middle" }, h("div", { class: "title ellipsis" }, shown), h("div", { class: "sub ellipsis" }, at ? t("sentAt", { time: listTime(at) }) : `@${user.name}`)),
h("button", { type: "button", class: "button small quiet", "aria-label": `${t("takeBack")}${t("colon")}${shown}`, onclick: () => takeBack(state, user.name) }, t("takeBack")));
}

function askForContact(app, name) {
const { state } = app;
const text = h("textarea", { class: "input", rows: "3", maxlength: String(LONGEST), autofocus: true, placeholder: t("requestPlaceholder") });
const send = h("button", { type: "submit", class: "button primary" }, t("sendRequest"));
const form = h("form", { onsubmit: submitting(send, async () => {
if (await attempt(state.requestContact(name, { text: [...text.value.trim()].slice(0, LONGEST).join("") })) === undefined) return;
dialog.close();
toast(t("requestSent", { name: userName(state, name) }));
}) },
h("div", { class: "dialog-body" }, lookalikeNote(state, name), h("label", { class: "field" }, t("requestText"), text)),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
const dialog = openDialog(t("addContactNamed", { name: userName(state, name) }), form);
}

function requestBadge(state) {
const { length } = state.contacts("asked");
return length ? h("span", { class: "badge", "aria-hidden": "true" }, String(Math.min(length, 99))) : null;
}
return { incoming, outgoing, answerRequest, takeBack, showRequests, askForContact, requestBadge };
})();
const $views_callbar = (() => {

const { canCall } = $calls_center;
const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { t } = $i18n_index;

class CallBar {
#key = null;

constructor(view) {
this.view = view;
this.calls = view.app.owner?.calls;
this.element = h("div", { class: "call-bar", role: "region", "aria-label": t("call"), hidden: true });
this.end = this.calls?.center.subscribe(() => this.update());
}

update() {
const { head, thread } = this.view;
const current = this.calls?.current;
const isHere = current && !current.isOver && current.conv === head.conv;
const key = head.call && thread === null && this.calls && !isHere && canCall(head) ? head.call : null;
if (key === this.#key) return;
this.#key = key;
this.element.hidden = key === null;
if (key === null) return replace(this.element);
replace(this.element, icon("call"), h("span", { class: "grow" }, t("callOngoing")),
h("button", { type: "button", class: "button small", "data-action": "join-call", onclick: () => this.calls.start(head.conv, "audio") }, t("join")));
}

close() { this.end?.(); }
}

function callButtons(view) {
const { calls } = view.app.owner ?? {};
const button = (media, symbol, label) => h("button", { type: "button", class: "icon-button", "data-call": media, "aria-label": t(label), title: t(label), onclick: () => calls.start(view.id, media) }, icon(symbol));
return [button("audio", "call", "callAudio"), button("video", "video", "callVideo")];
}
return { CallBar, callButtons };
})();
const $views_threadheader = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { headAvatar } = $views_avatar;
const { callButtons } = $views_callbar;
const { withPanels } = $views_later;
const { lookalikeMark } = $views_lookalike;
const { eventText, headTitle, isGroup, userName } = $views_model;
const { canCall } = $calls_center;
const { lastSeen, number } = $i18n_format;
const { t } = $i18n_index;

class ThreadHeader {
#pinTexts = new Map();
#pinAt = 0;
#isOnline;

constructor(view) {
this.view = view;
this.state = view.state;
const { app } = view;
this.title = h("h2", { class: "ellipsis" });
this.sub = h("div", { class: "sub ellipsis" });
this.face = h("span", {});
this.more = h("button", { type: "button", class: "icon-button", "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => withPanels(({ conversationMenu }) => conversationMenu(app, this.more, view.head, { thread: view })) }, icon("more"));
this.calls = view.thread === null && app.owner?.calls ? callButtons(view) : [];
this.element = h("header", { class: "bar" },
h("button", { type: "button", class: `icon-button${view.thread === null ? " only-narrow" : ""}`, "aria-label": t("back"), onclick: () => app.back() }, icon("back")),
h("button", { type: "button", class: "peer", "aria-label": t("chatInfo"), onclick: () => app.toggleDetails() }, this.face, h("span", { class: "lines" }, this.title, this.sub)),
this.calls,
h("button", { type: "button", class: "icon-button only-wide", "aria-label": t("search"), onclick: () => app.search({ conv: view.id }) }, icon("search")),
this.more);
this.banner = h("div", { class: "banner", role: "status", hidden: true }, icon("warning"), t("offline"));
this.pin = h("button", { type: "button", class: "pin-line grow", onclick: () => this.#nextPin() });
this.allPins = h("button", { type: "button", class: "icon-button", "aria-label": t("pinnedMessages"), title: t("pinnedMessages"), onclick: () => withPanels(({ showPins }) => showPins(view)) }, icon("list"));
this.pinned = h("div", { class: "pinned", hidden: true }, this.pin, this.allPins);
}

update() {
const { view, state } = this;
const title = headTitle(state, view.head);
replace(this.title, view.thread === null ? title : `${t("thread")} · ${title}`, view.head.kind === "pair" ? lookalikeMark(state, view.head.peer?.name) : null);
this.#updateFace();
for (const button of this.calls) button.hidden = !canCall(view.head) || view.isBlocked;
this.updatePresence();
this.updatePins();
}

#peer() {
return this.view.head.kind === "pair" && this.view.head.peer ? this.state.user(this.view.head.peer.name) ?? this.view.head.peer : null;
}

#updateFace() {
this.#isOnline = this.#peer()?.online;
replace(this.face, headAvatar(this.state, this.view.head, { size: "m", online: this.#isOnline }));
}

updatePresence() {
if (this.#peer()?.online !== this.#isOnline) this.#updateFace();
this.banner.hidden = this.state.connection?.state !== "offline" || !matchMedia("(max-width: 720px)").matches;
const typing = (this.state.typing(this.view.id) ?? []).filter((name) => name !== this.state.account?.name);
this.sub.classList.toggle("active", typing.length > 0);
this.sub.textContent = typing.length ? typingText(this.state, this.view.head, typing) : this.#subtitle();
}

#subtitle() {
const { head } = this.view;
if (this.state.connection?.state === "connecting") return t("connecting");
if (head.kind === "channel") return t("subscribers", { n: head.members ?? 0 });
if (head.kind === "group") return t("membersCount", { n: head.members ?? 0 });
const peer = this.#peer();
if (!peer) return "";
if (this.state.connection?.state === "offline") return `@${peer.name}`;
if (peer.online) return t("online");
return peer.last_seen ? lastSeen(peer.last_seen) : peer.status ?? "";
}

updatePins() {
const pins = this.view.thread === null ? this.view.head.pins ?? [] : [];
this.pinned.hidden = !pins.length;
if (!pins.length) return;
const seq = pins[this.#pinAt % pins.length];
const row = this.state.event(this.view.id, seq);
if (row?.kind) this.#pinTexts.set(seq, eventText(this.state, row).slice(0, 120));
replace(this.pin, icon("pin"), h("span", { class: "grow" }, h("strong", {}, pins.length > 1 ? `${t("pinnedMessage")} ${number((this.#pinAt % pins.length) + 1)}/${number(pins.length)}` : t("pinnedMessage")),
h("span", { class: "ellipsis" }, this.#pinTexts.get(seq) ?? t("message"))));
}

#nextPin() {
const pins = this.view.head.pins ?? [];
const at = this.#pinAt % pins.length;
this.view.actions.jump(pins[at]);
this.#pinAt = at + 1;
this.updatePins();
}
}

function typingText(state, head, names) {
if (!isGroup(head)) return t("typing");
return names.length === 1 ? t("typingOne", { name: userName(state, names[0]) }) : t("typingMany", { n: names.length });
}
return { ThreadHeader, typingText };
})();
const $views_sidebar = (() => {

const { h, replace, Scope } = $views_dom;
const { icon } = $views_icons;
const { headAvatar, userAvatar } = $views_avatar;
const { RowList } = $views_rows;
const { openMenu } = $views_menu;
const { withPanels } = $views_later;
const { lookalikeMark } = $views_lookalike;
const { requestBadge } = $views_requests;
const { actorName, byName, eventText, headTitle, ICONS, isGroup, isMuted, isNote, matches, userName } = $views_model;
const { hitRow } = $views_search;
const { typingText } = $views_threadheader;
const { listTime, number } = $i18n_format;
const { t } = $i18n_index;

const FILTERS = ["all", "unread", "groups", "people"];
const HITS = 5;
const LABELS = { all: "allChats", unread: "unread", groups: "groups", people: "people", archived: "archived" };

class Sidebar {
#scope = new Scope();
#typing = new Map();
#found = { query: "", hits: [] };
#pause = 0;

constructor(app) {
this.app = app;
this.state = app.state;
this.filter = "all";
this.#build();
this.#scope.add(this.state.subscribe("conversations", () => this.update()));
this.#scope.add(this.state.subscribe("settings", () => this.update()));
this.#scope.add(this.state.subscribe("connection", () => this.#updateConnection()));
this.#scope.add(this.state.subscribe("presence", () => this.rows.list.invalidate()));
this.#scope.add(this.state.subscribe("contacts", () => { this.#updateRequests(); this.rows.list.invalidate(); }));
this.#updateRequests();
this.#updateConnection();
}

close() {
for (const end of this.#typing.values()) end();
clearTimeout(this.#pause);
this.rows.close();
this.#scope.close();
this.element.remove();
}

#build() {
const { app } = this;
this.menu = h("button", { type: "button", class: "icon-button", id: "main-menu", "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.#mainMenu() }, icon("menu"));
this.searchField = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", id: "search", placeholder: t("search"), "aria-label": t("searchChats"), autocomplete: "off" });
this.searchField.addEventListener("input", () => this.update());
this.searchField.addEventListener("keydown", (event) => {
if (event.key === "Escape" && this.searchField.value) {
event.stopPropagation();
this.searchField.value = "";
this.update();
}
});
this.compose = h("button", { type: "button", class: "icon-button", id: "new-chat", "aria-label": t("newChat"), title: t("newChat"), onclick: () => app.newChat() }, icon("pen"));
this.banner = h("div", { class: "banner", role: "status", hidden: true });
this.chips = h("div", { class: "filters", role: "group", "aria-label": t("chats") });
this.chips.addEventListener("wheel", (event) => { if (!event.deltaX && !event.ctrlKey) this.chips.scrollLeft += event.deltaY; }, { passive: true });
this.rows = new RowList({
label: t("chatList"), className: "chat-list", search: this.searchField, estimate: 68,
key: (row) => row.key,
render: (row) => (row.head ? this.#row(row.head) : this.#otherRow(row)),
signature: (row) => (row.head ? `${row.head.conv === app.openID}|${this.state.typing(row.head.conv)?.length ?? 0}|${this.#online(row.head)}|${listTime(row.head.at)}` : ""),
choose: (row) => this.#choose(row),
menu: (row, anchor) => row.head && withPanels(({ conversationMenu }) => conversationMenu(app, anchor, row.head)),
});
this.element = h("div", { class: "pane side", role: "navigation", "aria-label": t("chats") },
h("div", { class: "bar" }, this.menu, h("div", { class: "search-box" }, icon("search"), this.searchField), this.compose),
this.banner, this.chips, this.rows.element);
}

#online(head) {
return head.kind === "pair" && Boolean((this.state.user(head.peer?.name) ?? head.peer)?.online);
}

#updateConnection() {
const connection = this.state.connection?.state;
this.banner.hidden = connection === "online" || !connection;
replace(this.banner, icon("warning"), t(connection === "offline" ? "offline" : "connecting"));
}

#updateRequests() {
const { length: n } = this.state.contacts("asked");
replace(this.menu, icon("menu"), requestBadge(this.state));
this.menu.setAttribute("aria-label", n ? `${t("menu")}, ${t("requestCount", { n })}` : t("menu"));
}

#updateChips() {
const unread = this.state.conversations({ filter: "unread" }).length;
const archived = this.state.conversations({ filter: "archived" }).length;
const folders = (this.state.settings?.folders ?? []).map(({ name }) => `folder:${name}`);
if (this.filter.startsWith("folder:") && !folders.includes(this.filter)) this.filter = "all";
const filters = [...FILTERS, ...folders, ...(archived || this.filter === "archived" ? ["archived"] : [])];
const shown = JSON.stringify([filters, unread, this.filter, t("allChats")]);
if (shown === this.shownChips) return;
this.shownChips = shown;
const focused = this.chips.contains(document.activeElement) ? document.activeElement.dataset.filter : null;
const { scrollLeft } = this.chips;
replace(this.chips, filters.map((name) => this.#chip(name, name === "unread" ? unread : 0)));
this.chips.scrollLeft = scrollLeft;
if (focused) [...this.chips.children].find((chip) => chip.dataset.filter === focused)?.focus({ preventScroll: true });
}

#chip(name, count) {
const folder = name.startsWith("folder:") ? name.slice("folder:".length) : null;
const chip = h("button", {
type: "button", class: "chip", "data-filter": name, "aria-pressed": String(name === this.filter), title: folder,
onclick: () => { this.#filterBy(name); },
}, folder ?? t(LABELS[name]), count ? h("span", { class: "count" }, number(count)) : null);
if (folder !== null) {
chip.addEventListener("contextmenu", (event) => {
event.preventDefault();
withPanels(({ folderMenu }) => folderMenu(this.app, chip, folder, (to) => this.#filterBy(to === null ? "all" : `folder:${to}`)));
});
}
return chip;
}

#filterBy(name) {
this.filter = name;
this.update();
[...this.chips.children].find((chip) => chip.dataset.filter === name)?.focus();
}

update() {
const query = this.searchField.value.trim();
this.#updateChips();
const heads = this.state.conversations({ filter: query ? "all" : this.filter, query });
const rows = heads.map((head) => ({ key: head.conv, head, same: head }));
if (query) {
const shown = new Set(heads.map((head) => head.peer?.name));
const people = this.state.contacts().filter((contact) => !shown.has(contact.user.name) && matches(contact, query)).sort(byName(this.state));
rows.push(...people.map((contact) => ({ key: `@${contact.user.name}`, contact })));
rows.push({ key: "messages", query });
if (this.#found.query === query) rows.push(...this.#found.hits.map((hit) => ({ key: `m${hit.event.conv}/${hit.event.seq}`, hit })));
}
this.#searchMessages(query);
this.rows.setRows(this.#reuse(rows));
this.#watchTyping(heads.slice(0, 30));
this.#showEmpty(rows.length === 0, !query && this.filter === "all" && rows.every((row) => row.head?.kind === "self"));
this.app.updateTitle();
}

#searchMessages(query) {
if (query === this.#found.query) return;
this.#found = { query, hits: [] };
clearTimeout(this.#pause);
if (!query) return;
this.#pause = setTimeout(async () => {
const result = await this.state.search(query, {}).catch(() => null);
if (!result || this.#found.query !== query) return;
this.#found = { query, hits: result.hits.slice(0, HITS) };
this.update();
}, 200);
}

#reuse(rows) {
const former = this.former ?? new Map();
const next = rows.map((row) => {
const before = former.get(row.key);
return before && before.head === row.head && before.contact?.user === row.contact?.user && before.query === row.query && before.hit === row.hit ? before : row;
});
this.former = new Map(next.map((row) => [row.key, row]));
return next;
}

#watchTyping(heads) {
const wanted = new Set(heads.map(({ conv }) => conv));
for (const [conv, end] of this.#typing) {
if (wanted.has(conv)) continue;
end();
this.#typing.delete(conv);
}
for (const conv of wanted) {
if (!this.#typing.has(conv)) this.#typing.set(conv, this.state.subscribe(`typing:${conv}`, () => this.rows.list.schedule()));
}
}

#showEmpty(empty, isNew) {
if (isNew && this.empty?.isConnected && this.shownNew) return;
this.empty?.remove();
this.shownNew = isNew;
if (!empty && !isNew) return;
const unread = this.filter === "unread";
this.empty = h("div", { class: `empty${empty ? "" : " after"}` }, h("h2", {}, t(unread ? "noUnread" : "noChats")), unread ? null : h("p", {}, t("noChatsHint")),
unread ? null : [h("button", { type: "button", class: "button primary", onclick: () => this.app.newChat() }, icon("pen"), t("newChat")),
h("button", { type: "button", class: "button", onclick: () => this.app.explore() }, icon("globe"), t("explore"))]);
this.rows.element.append(this.empty);
}

refresh() {
this.rows.list.schedule();
}

#choose(row) {
if (row.head) this.app.openConversation(row.head.conv);
else if (row.contact) this.app.openProfile(row.contact.user.name);
else if (row.hit) this.app.openConversation(row.hit.event.conv, { seq: row.hit.event.seq });
else this.app.search({ query: row.query });
}

#row(head) {
const { state } = this;
const title = headTitle(state, head);
const unread = head.unread ?? 0;
const marked = head.own?.marked_unread && !unread;
const mentionsOnly = head.own?.notify === "mentions" && !isMuted(head);
const spoken = [title, unread ? t("unreadCount", { n: unread }) : null, head.mentions ? t("mentionsCount", { n: head.mentions }) : null, mentionsOnly ? t("notifyMentions") : null].filter(Boolean);
return h("button", {
type: "button", class: "row", "data-conv": head.conv, "aria-current": head.conv === this.app.openID ? "true" : null,
}, headAvatar(state, head, { online: this.#online(head) }),
h("span", { class: "lines" },
h("span", { class: "line" }, head.kind === "group" ? icon("group") : head.kind === "channel" ? icon("megaphone") : null, h("span", { class: "title ellipsis" }, title), head.kind === "pair" ? lookalikeMark(state, head.peer?.name) : null,
isMuted(head) ? icon("bellOff") : mentionsOnly ? icon("at") : null, h("span", { class: "spring" }), h("span", { class: "time" }, head.last || head.kind !== "self" ? listTime(head.last?.at ?? head.at) : "")),
h("span", { class: "line" }, this.#preview(head),
head.mentions ? h("span", { class: "badge mention", "aria-hidden": "true" }, "@") : null,
unread || marked ? h("span", { class: `badge${isMuted(head) ? " quiet" : ""}`, "aria-hidden": "true" }, unread ? number(Math.min(unread, 9999)) : "") : null,
head.own?.pinned_at && !unread ? icon("pin") : null)),
h("span", { class: "visually-hidden" }, spoken.slice(1).join(", ")));
}

#preview(head) {
const { state } = this;
const typing = (state.typing(head.conv) ?? []).filter((name) => name !== state.account?.name);
if (typing.length) return h("span", { class: "preview ellipsis" }, h("span", { class: "typing" }, typingText(state, head, typing)));
const draft = head.conv === this.app.openID ? null : state.draft(head.conv);
if (draft?.text) return h("span", { class: "preview ellipsis" }, h("span", { class: "draft" }, t("draftPrefix")), draft.text.slice(0, 120));
if (head.state === "invited") return h("span", { class: "preview ellipsis" }, t("invited", { name: userName(state, head.peer?.name) }));
if (head.state === "requested") return h("span", { class: "preview ellipsis" }, t("requested"));
const { last } = head;
if (!last) return h("span", { class: "preview" }, "");
const isGone = /recalled|expired|erased/.test(last.state);
if (last.kind === "conversation.create" && head.kind === "channel") return h("span", { class: "preview ellipsis" }, t("eventCreateChannel"));
const named = !isNote(last) && !(isGone && last.sender === state.account?.name) && (isGroup(head) ? last.sender : last.sender === state.account?.name && head.kind !== "self" && last.kind !== "call");
return h("span", { class: "preview ellipsis" }, named ? h("span", { class: "who" }, `${actorName(state, last.sender)}${t("colon")}`) : null, ICONS[last.kind] && !isGone ? icon(last.media === "video" ? "video" : ICONS[last.kind]) : null, eventText(state, last).replace(/\s+/g, " "));
}

#otherRow(row) {
if (row.hit) return hitRow(this.state, row.hit);
if (row.contact) {
const { user } = row.contact;
return h("button", { type: "button", class: "row compact" }, userAvatar(this.state, user, { size: "m", online: user.online }),
h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, userName(this.state, user.name)), h("span", { class: "sub ellipsis" }, `@${user.name}`)));
}
return h("button", { type: "button", class: "row compact" }, h("span", { class: "avatar size-m" }, icon("search")), h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, `${t("search")}${t("colon")}${row.query}`), h("span", { class: "sub" }, t("messages"))));
}

#mainMenu() {
const { app } = this;
openMenu(this.menu, [
{ icon: "group", label: t("newGroup"), run: () => app.newGroup("group") },
{ icon: "megaphone", label: t("newChannel"), run: () => app.newGroup("channel") },
{ icon: "person", label: t("contacts"), end: requestBadge(this.state), run: () => app.contacts() },
{ icon: "bookmark", label: t("savedMessages"), run: () => app.openSelf() },
{ icon: "globe", label: t("explore"), run: () => app.explore() },
null,
{ icon: "settings", label: t("settings"), run: () => app.settings() },
{ icon: "leave", label: t("signOut"), run: () => app.signOut() },
], { label: t("more") });
}
}
return { Sidebar };
})();
const $views_albums = (() => {

const { gone } = $views_model;

const MOST = 10;

class Albums {
#cache = new Map();

merge(state, rows) {
const merged = [];
const cache = new Map();
for (let index = 0; index < rows.length;) {
const parts = run(state, rows, index);
index += parts.length;
if (parts.length === 1) merged.push(parts[0]);
else {
const before = this.#cache.get(parts[0].key);
const row = before && before.parts.length === parts.length && before.parts.every((part, at) => part === parts[at]) ? before : album(parts);
cache.set(row.key, row);
merged.push(row);
}
}
this.#cache = cache;
return merged;
}
}

const partsOf = (row) => row.parts ?? [row];

function pictureRows(state, rows) {
return rows.flatMap(partsOf).filter((row) => (row.kind === "image" || row.kind === "video") && !gone(state, row) && (row.localURL || row.body?.blob));
}

function run(state, rows, start) {
const first = rows[start];
const name = mediaAlbum(state, first);
let end = start + 1;
while (name && end - start < MOST && rows[end] && rows[end].sender === first.sender && mediaAlbum(state, rows[end]) === name) end += 1;
return rows.slice(start, end);
}

const mediaAlbum = (state, row) => ((row.kind === "image" || row.kind === "video") && !gone(state, row) ? row.body?.album : undefined);

function album(parts) {
const [first, last] = [parts[0], parts.at(-1)];
const named = parts.find((part) => part.body.text) ?? last;
return { ...named, kind: "image", key: first.key, ref: first.ref, quote: first.quote, n: last.n, status: last.status, parts };
}
return { Albums, partsOf, pictureRows };
})();
const $views_emojipicker = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { popover } = $views_menu;
const { EMOJI, findEmoji } = $text_emoji;
const { currentLanguage, t } = $i18n_index;

const COLUMNS = 8;

const isChinese = () => currentLanguage() === "zh";
const nameOf = ({ name, zh }) => (isChinese() ? zh : name.replaceAll("_", " "));
const shortcode = ({ name, zh }) => `:${isChinese() ? zh : name}:`;

function emojiPicker(anchor, choose, onclose) {
const grid = h("div", { class: "grid" });
const button = (item) => h("button", { type: "button", title: shortcode(item), "aria-label": nameOf(item), tabindex: "-1", onclick: () => choose(item.face) }, item.face);
const show = (query) => {
const found = query ? findEmoji(query, 64) : [];
if (query) replace(grid, found.length ? found.map(button) : h("p", { class: "muted small", role: "status" }, t("noResults")));
else replace(grid, EMOJI.map(({ key, items }) => [h("h3", {}, t(`emoji${key[0].toUpperCase()}${key.slice(1)}`)), ...items.map(button)]));
grid.querySelector("button")?.setAttribute("tabindex", "0");
};
const input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: t("searchEmoji"), "aria-label": t("searchEmoji"), oninput: () => show(input.value.trim()) });
const box = h("div", { class: "menu emoji-panel", role: "dialog", "aria-label": t("emoji") }, h("div", { class: "search-box" }, icon("search"), input), grid);
box.addEventListener("keydown", (event) => {
const buttons = [...grid.querySelectorAll("button")];
const at = buttons.indexOf(document.activeElement);
if (document.activeElement === input && (event.key === "ArrowDown" || event.key === "Enter")) {
event.preventDefault();
if (event.key === "Enter") buttons[0]?.click();
else buttons[0]?.focus();
return;
}
const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
if (at < 0 || !step) return;
event.preventDefault();
(buttons[at + step] ?? (step < 0 ? input : buttons.at(-1))).focus();
});
show("");
popover(anchor, box, { onclose });
input.focus({ preventScroll: true });
}
return { shortcode, emojiPicker };
})();
const $views_completion = (() => {

const { h, replace, uniqueID } = $views_dom;
const { icon } = $views_icons;
const { shortcode } = $views_emojipicker;
const { userAvatar } = $views_avatar;
const { isGroup, permits, userName } = $views_model;
const { namesIn } = $text_markdown;
const { findEmoji } = $text_emoji;
const { t } = $i18n_index;

const LIMIT = 8;
const NAMES = 10;
const PATIENCE = 4000;

class Completion {
#items = [];
#awaitsPeople = false;
#at = 0;
#start = 0;
known = new Map();

constructor(composer) {
this.composer = composer;
this.state = composer.state;
this.box = h("div", { class: "completion", role: "listbox", id: uniqueID("completion"), "aria-label": t("search"), hidden: true });
composer.element.append(this.box);
composer.input.setAttribute("aria-controls", this.box.id);
}

update() {
const { input } = this.composer;
const before = input.value.slice(0, input.selectionStart);
const emoji = /(?:^|\s)[:：]([a-z0-9_+-]{2,20}|\p{Script=Han}{1,6})$/u.exec(before);
const mention = /(?:^|[\s(\p{Script=Han}，。：、])@([\p{L}\p{N}._-]{0,32})$/u.exec(before);
this.#awaitsPeople = Boolean(!emoji && mention && isGroup(this.composer.view.head));
if (emoji) {
this.#start = before.length - emoji[1].length - 1;
this.#items = findEmoji(emoji[1], LIMIT).map((item) => ({ insert: item.face, label: shortcode(item), face: item.face }));
} else if (this.#awaitsPeople) {
this.#start = before.length - mention[1].length - 1;
this.#request(mention[1]);
this.#items = this.#people(mention[1].toLocaleLowerCase());
} else this.#items = [];
this.#at = 0;
this.#show();
}

#people(query) {
const { view } = this.composer;
const own = this.state.account?.name;
const found = this.members.filter(({ user }) => user.name !== own && (!query || userName(this.state, user.name).toLocaleLowerCase().includes(query) || user.name.includes(query)));
const items = found.slice(0, LIMIT).map(({ user }) => ({ insert: `@${user.name} `, label: userName(this.state, user.name), sub: `@${user.name}`, user }));
const word = t("mentionAll");
if (isGroup(view.head) && permits(view.head, "mention_all", "admins") && (word.startsWith(query) || "all".startsWith(query))) items.push({ insert: `@${word} `, label: `@${word}`, sub: t("mentionAllHint") });
return items;
}

#request(query) {
const { id } = this.composer;
if (this.query === query) return;
this.query = query;
this.found?.close?.();
this.found = this.state.members(id, query);
this.unsubscribe ??= this.state.subscribe(`members:${id}`, () => {
this.#remember();
if (this.#awaitsPeople) {
this.#items = this.#people(this.query.toLocaleLowerCase());
this.#show();
}
});
this.#remember();
}

#remember() {
for (const member of this.found?.members ?? []) this.known.set(member.user.name, member);
}

async resolve(text) {
if (!isGroup(this.composer.view.head)) return;
const wanted = namesIn(text).filter((name) => !this.members.some(({ user }) => user.name === name || userName(this.state, user.name).toLocaleLowerCase() === name)).slice(0, NAMES);
const lists = wanted.map((name) => this.state.members(this.composer.id, name));
await Promise.race([Promise.all(lists.map((list) => list.ready)), new Promise((done) => setTimeout(done, PATIENCE))]);
for (const list of lists) {
for (const member of list.members) this.known.set(member.user.name, member);
list.close();
}
}

get members() {
return [...this.known.values()];
}

dispose() {
this.unsubscribe?.();
this.found?.close?.();
}

#show() {
this.box.hidden = !this.#items.length;
const { input } = this.composer;
if (this.box.hidden) {
input.removeAttribute("aria-activedescendant");
return;
}
replace(this.box, this.#items.map((item, index) => h("div", {
role: "option", id: `${this.box.id}-${index}`, "aria-selected": String(index === this.#at),
onpointerdown: (event) => { event.preventDefault(); this.#take(index); },
}, item.face ? h("span", { class: "face" }, item.face) : item.user ? userAvatar(this.state, item.user, { size: "s" }) : icon("megaphone"),
h("span", { class: "ellipsis" }, item.label), item.sub ? h("span", { class: "small muted ellipsis" }, item.sub) : null)));
input.setAttribute("aria-activedescendant", `${this.box.id}-${this.#at}`);
this.box.children[this.#at]?.scrollIntoView({ block: "nearest" });
}

#take(index) {
const { input } = this.composer;
input.setRangeText(this.#items[index].insert, this.#start, input.selectionStart, "end");
this.close();
input.dispatchEvent(new Event("input"));
input.focus();
}

close() {
this.#items = [];
this.#awaitsPeople = false;
this.#show();
}

typed(event) {
if (!this.#items.length) return false;
const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
if (step) {
this.#at = (this.#at + step + this.#items.length) % this.#items.length;
this.#show();
} else if (event.key === "Enter" || event.key === "Tab") this.#take(this.#at);
else if (event.key === "Escape") this.close();
else return false;
event.preventDefault();
event.stopPropagation();
return true;
}
}
return { Completion };
})();
const $text_blurhash = (() => {

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const number = (text) => [...text].reduce((value, digit) => value * 83 + Math.max(0, DIGITS.indexOf(digit)), 0);
const linear = (value) => (value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const encode = (value) => {
const level = Math.max(0, Math.min(1, value));
return Math.round((level <= 0.0031308 ? level * 12.92 : 1.055 * level ** (1 / 2.4) - 0.055) * 255);
};
const signed = (value) => Math.sign(value) * value * value;

function blurCanvas(hash) {
if (typeof hash !== "string" || hash.length < 6) return null;
const sizes = number(hash[0]);
const columns = (sizes % 9) + 1;
const rows = Math.floor(sizes / 9) + 1;
if (hash.length !== 4 + 2 * columns * rows) return null;
const maximum = (number(hash[1]) + 1) / 166;
const colors = [];
for (let index = 0; index < columns * rows; index += 1) {
if (index === 0) {
const value = number(hash.slice(2, 6));
colors.push([linear(value >> 16), linear((value >> 8) & 255), linear(value & 255)]);
} else {
const value = number(hash.slice(4 + index * 2, 6 + index * 2));
colors.push([signed((Math.floor(value / 361) - 9) / 9) * maximum, signed(((Math.floor(value / 19) % 19) - 9) / 9) * maximum, signed(((value % 19) - 9) / 9) * maximum]);
}
}
const size = 32;
const canvas = document.createElement("canvas");
canvas.width = size;
canvas.height = size;
const context = canvas.getContext("2d");
const image = context.createImageData(size, size);
for (let y = 0; y < size; y += 1) {
for (let x = 0; x < size; x += 1) {
const sum = [0, 0, 0];
for (let row = 0; row < rows; row += 1) {
for (let column = 0; column < columns; column += 1) {
const basis = Math.cos((Math.PI * x * column) / size) * Math.cos((Math.PI * y * row) / size);
const color = colors[row * columns + column];
for (let part = 0; part < 3; part += 1) sum[part] += color[part] * basis;
}
}
image.data.set([encode(sum[0]), encode(sum[1]), encode(sum[2]), 255], (y * size + x) * 4);
}
}
context.putImageData(image, 0, 0);
return canvas;
}

const digits = (value, length) => Array.from({ length }, (_, index) => DIGITS[Math.floor(value / 83 ** (length - 1 - index)) % 83]).join("");

function blurHash({ width, height, data }, columns = 4, rows = 3) {
const factors = [];
for (let row = 0; row < rows; row += 1) {
for (let column = 0; column < columns; column += 1) {
const sum = [0, 0, 0];
for (let y = 0; y < height; y += 1) {
for (let x = 0; x < width; x += 1) {
const basis = Math.cos((Math.PI * column * (x + 0.5)) / width) * Math.cos((Math.PI * row * (y + 0.5)) / height);
for (let part = 0; part < 3; part += 1) sum[part] += basis * linear(data[(y * width + x) * 4 + part]);
}
}
const scale = (row || column ? 2 : 1) / (width * height);
factors.push(sum.map((value) => value * scale));
}
}
const [[red, green, blue], ...rest] = factors;
const most = Math.max(...rest.flat().map(Math.abs));
const maximum = Math.max(0, Math.min(82, Math.floor(most * 166 - 0.5)));
const quantized = (value) => Math.max(0, Math.min(18, Math.floor(Math.sign(value) * Math.sqrt(Math.abs(value) / ((maximum + 1) / 166)) * 9 + 9.5)));
return digits(columns - 1 + (rows - 1) * 9, 1) + digits(maximum, 1) + digits((encode(red) << 16) + (encode(green) << 8) + encode(blue), 4)
+ rest.map((color) => digits(color.map(quantized).reduce((value, each) => value * 19 + each, 0), 2)).join("");
}
return { blurCanvas, blurHash };
})();
const $media_describe = (() => {

const { blurHash } = $text_blurhash;

const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;
const TIME = 10_000;
const POSTER = 800;
const LONGEST = 86_400_000;

async function describe(file, asFile = false) {
const other = { kind: "file", size: {} };
if (asFile) return other;
const url = URL.createObjectURL(file);
try {
if (PICTURE.test(file.type)) return await within(picture(url));
if (file.type.startsWith("video/")) return await within(film(url));
if (file.type.startsWith("audio/")) return await within(sound(url));
} catch (error) {
console.warn(file.type, error);
} finally {
URL.revokeObjectURL(url);
}
return other;
}

const within = (work) => Promise.race([work, new Promise((_, reject) => { setTimeout(reject, TIME, new Error("The file takes too long.")); })]);

async function picture(url) {
const image = new Image();
image.src = url;
await image.decode();
const [width, height] = [image.naturalWidth, image.naturalHeight];
return { kind: "image", size: { width, height, thumb: blurOf(image, width, height) } };
}

async function film(url) {
const video = document.createElement("video");
Object.assign(video, { muted: true, playsInline: true, preload: "auto" });
const duration = await lengthOf(video, url);
const [width, height] = [video.videoWidth, video.videoHeight];
if (!width || !height) throw new Error("The file has no picture.");
try {
await seek(video, Math.min(1, duration / 3000));
const poster = await still(video, width, height);
return { kind: "video", size: { width, height, duration, thumb: blurOf(video, width, height) }, poster };
} finally {
video.removeAttribute("src");
video.load();
}
}

async function sound(url) {
return { kind: "audio", size: { duration: await lengthOf(new Audio(), url) } };
}

async function lengthOf(element, url) {
await event(element, "loadeddata", () => { element.src = url; });
if (!Number.isFinite(element.duration)) {
await new Promise((resolve, reject) => {
element.ondurationchange = () => { if (Number.isFinite(element.duration)) resolve(); };
element.onerror = reject;
element.currentTime = 1e7;
});
await seek(element, 0);
}
return Math.max(0, Math.min(LONGEST, Math.round(element.duration * 1000)));
}

const seek = (element, seconds) => event(element, "seeked", () => { element.currentTime = seconds; });

function event(target, type, begin) {
return new Promise((resolve, reject) => {
target.addEventListener(type, resolve, { once: true });
target.addEventListener("error", () => reject(target.error ?? new Error("The file cannot be decoded.")), { once: true });
begin();
});
}

function drawn(source, width, height, limit) {
const scale = Math.min(1, limit / Math.max(width, height));
const canvas = document.createElement("canvas");
canvas.width = Math.max(1, Math.round(width * scale));
canvas.height = Math.max(1, Math.round(height * scale));
const context = canvas.getContext("2d", { willReadFrequently: limit < 100 });
context.drawImage(source, 0, 0, canvas.width, canvas.height);
return { canvas, context };
}

function still(video, width, height) {
const { canvas } = drawn(video, width, height, POSTER);
return new Promise((resolve) => { canvas.toBlob((blob) => resolve(blob ?? undefined), "image/jpeg", 0.82); });
}

function blurOf(source, width, height) {
const { canvas, context } = drawn(source, width, height, 32);
return blurHash(context.getImageData(0, 0, canvas.width, canvas.height));
}
return { describe };
})();
const $views_sendfiles = (() => {

const { attempt } = $views_toast;
const { describe } = $media_describe;
const { uuid } = $core_requests;

const ALBUM = 10;
const CAPTION = 2000;

async function sendFiles(view, entries, caption, { ref, thread, silent }) {
const { state, id } = view;
const isLong = [...(caption.text ?? "")].length > CAPTION;
const contents = [];
for (const { file, asFile } of entries) contents.push({ file, ...(await describe(file, asFile)) });
inAlbums(contents);
for (const [index, { file, kind, size, poster, album }] of contents.entries()) {
const isLast = index === contents.length - 1;
const body = { name: file.name || "file", size: file.size, type: typeOf(file), ...size, ...(album && { album }), ...(isLast && !isLong && caption.text && caption) };
await attempt(state.send(id, { kind, file, poster, body, ref: index === 0 ? ref : undefined, thread, silent }));
view.sent();
}
if (isLong) await attempt(state.send(id, { kind: "text", body: caption, thread, silent }));
}

const typeOf = (file) => (/^[a-z]+\/[a-z0-9.+-]+$/.test(file.type) ? file.type : "application/octet-stream");

function inAlbums(contents) {
let run = [];
const end = () => {
if (run.length > 1) {
const album = uuid();
for (const each of run) each.album = album;
}
run = [];
};
for (const each of contents) {
if (each.kind !== "image" && each.kind !== "video") end();
else {
run.push(each);
if (run.length === ALBUM) end();
}
}
end();
}
return { sendFiles };
})();
const $views_scheduledline = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { withPanels } = $views_later;
const { t } = $i18n_index;

const LONGEST = 3_600_000;

class ScheduledLine {
#timer = 0;

constructor(view) {
this.view = view;
this.element = h("button", { type: "button", class: "scheduled-line", hidden: true, onclick: () => withPanels(({ showScheduled }) => showScheduled(view.app, view.id)) });
const { state } = view;
const ends = [state.subscribe("scheduled", () => this.update()), state.subscribe("connection", () => { if (state.connection?.state === "online") this.update(); })];
this.end = () => { for (const end of ends) end(); };
this.update();
}

close() {
this.closed = true;
clearTimeout(this.#timer);
this.end();
}

async update() {
const { state, id } = this.view;
const messages = await state.scheduled(id).catch(() => null);
if (!messages || this.closed) return;
clearTimeout(this.#timer);
const { length: n } = messages;
this.element.hidden = n === 0;
if (n === 0) return;
replace(this.element, icon("clock"), t("scheduledCount", { n }));
const next = Math.min(...messages.filter(({ error }) => !error).map(({ send_at: at }) => at)) - state.now + 1500;
if (next < Infinity) this.#timer = setTimeout(() => this.update(), Math.min(LONGEST, Math.max(1500, next)));
}
}
return { ScheduledLine };
})();
const $views_slowmode = (() => {

const { h } = $views_dom;
const { isAdmin, isGroup } = $views_model;
const { span } = $i18n_format;
const { t } = $i18n_index;

class SlowLine {
#timer = 0;

constructor(view) {
this.view = view;
this.element = h("div", { class: "slow-line", role: "timer", hidden: true });
}

close() {
clearTimeout(this.#timer);
}

update() {
clearTimeout(this.#timer);
const { head } = this.view;
const slow = isGroup(head) && !isAdmin(head) ? head.settings?.slow ?? 0 : 0;
const last = slow ? this.view.rows.findLast((row) => row.own && row.n !== undefined)?.at ?? 0 : 0;
const left = Math.ceil((last + slow * 1000 - Date.now()) / 1000);
const isWaiting = slow > 0 && left > 0 && left <= slow;
this.element.hidden = !isWaiting;
if (!isWaiting) return;
this.element.textContent = t("slowLeft", { time: span(left) });
this.#timer = setTimeout(() => this.update(), 1000);
}
}
return { SlowLine };
})();
const $views_tray = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { toast } = $views_toast;
const { fileSize } = $i18n_format;
const { t } = $i18n_index;

class Tray {
#entries = [];
#asFiles = false;

constructor(state, changed) {
this.state = state;
this.changed = changed;
this.element = h("div", { class: "attachments", hidden: true });
this.picker = h("input", { type: "file", multiple: true, hidden: true, tabindex: "-1", onchange: () => { this.add(this.picker.files, { asFiles: this.#asFiles }); this.#asFiles = false; this.picker.value = ""; } });
}

get isEmpty() { return this.#entries.length === 0; }

close() {
for (const { url } of this.#entries) if (url) URL.revokeObjectURL(url);
}

pick(accept, { asFiles = false } = {}) {
this.#asFiles = asFiles;
this.picker.accept = accept;
this.picker.click();
}

add(files, { asFiles = false } = {}) {
const limit = this.state.session.limits?.blob_bytes ?? 104_857_600;
for (const file of files) {
if (file.size > limit) {
toast(t("errorTooLarge", { size: fileSize(limit) }), { role: "alert" });
continue;
}
const entry = { file, asFile: asFiles, url: file.type.startsWith("image/") && !asFiles ? URL.createObjectURL(file) : null };
entry.element = h("div", { class: "attachment", title: file.name }, entry.url ? h("img", { src: entry.url, alt: file.name }) : [icon(file.type.startsWith("video/") ? "video" : "file"), h("bdi", { class: "ellipsis" }, file.name), h("span", { class: "muted" }, fileSize(file.size))],
h("button", { type: "button", "aria-label": t("removeAttachment", { name: file.name }), onclick: () => this.#remove(entry) }, icon("close")));
this.#entries.push(entry);
this.element.append(entry.element);
}
this.#tell();
}

take() {
const files = this.#entries.map(({ file, asFile }) => ({ file, asFile }));
for (const { url } of this.#entries) if (url) setTimeout(() => URL.revokeObjectURL(url), 60_000);
this.#entries = [];
this.element.replaceChildren();
this.element.hidden = true;
return files;
}

#remove(entry) {
this.#entries = this.#entries.filter((other) => other !== entry);
if (entry.url) URL.revokeObjectURL(entry.url);
entry.element.remove();
this.#tell();
}

#tell() {
this.element.hidden = this.isEmpty;
this.changed();
}

accept(target, box, isActive) {
let depth = 0;
const mark = h("div", { class: "drop-target" }, t("dropHere"));
const leave = () => { depth = 0; mark.remove(); };
const has = (event) => event.dataTransfer?.types.includes("Files") && isActive();
target.addEventListener("dragenter", (event) => { if (has(event)) { event.preventDefault(); depth += 1; box.append(mark); } });
target.addEventListener("dragover", (event) => { if (has(event)) event.preventDefault(); });
target.addEventListener("dragleave", () => { depth -= 1; if (depth <= 0) leave(); });
target.addEventListener("drop", (event) => {
if (!has(event)) return;
event.preventDefault();
leave();
this.add(event.dataTransfer.files);
});
}
}
return { Tray };
})();
const $media_wave = (() => {

const PARTS = 100;
const QUIET = 0.02;

function waveOf(levels) {
if (levels.length === 0) return undefined;
const count = Math.min(PARTS, levels.length);
const peaks = Array.from({ length: count }, (_, part) => {
const [from, end] = [part, part + 1].map((edge) => Math.floor((edge * levels.length) / count));
return levels.slice(from, end).reduce((most, level) => Math.max(most, level), 0);
});
const loudest = peaks.reduce((most, level) => Math.max(most, level), QUIET);
return peaks.map((level) => Math.round((255 * level) / loudest).toString(16).padStart(2, "0")).join("");
}

function levelsOf(wave, most = 48) {
if (typeof wave !== "string" || !/^(?:[0-9a-f]{2}){1,100}$/i.test(wave)) return [];
const levels = wave.match(/../g).map((pair) => parseInt(pair, 16) / 255);
const count = Math.min(most, levels.length);
return Array.from({ length: count }, (_, part) => {
const [from, end] = [part, part + 1].map((edge) => Math.floor((edge * levels.length) / count));
return Math.max(...levels.slice(from, end));
});
}
return { waveOf, levelsOf };
})();
const $media_recorder = (() => {

const { waveOf } = $media_wave;

const AUDIO = ["audio/mp4;codecs=mp4a.40.2", "audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4", ""];
const VIDEO = ["video/mp4;codecs=avc1.42E01E,mp4a.40.2", "video/webm;codecs=vp8,opus", "video/webm", "video/mp4", ""];
const STEP = 50;

const canRecord = () => Boolean(globalThis.MediaRecorder && navigator.mediaDevices?.getUserMedia);

async function recordVoice(onlevel = () => {}) {
return new Recording(await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } }), AUDIO, { audioBitsPerSecond: 32_000 }, onlevel);
}

function openCamera(facingMode = "user") {
return navigator.mediaDevices.getUserMedia({ audio: true, video: { facingMode, width: { ideal: 1280 }, height: { ideal: 720 } } });
}

const recordFilm = (stream) => new Recording(stream, VIDEO, { videoBitsPerSecond: 1_800_000, audioBitsPerSecond: 64_000 }, null);

class Recording {
#chunks = [];
#levels = [];
#timer = 0;
#context = null;
#before = 0;
#since = performance.now();
#ended;

constructor(stream, types, rates, onlevel) {
this.stream = stream;
const mimeType = types.find((type) => !type || MediaRecorder.isTypeSupported(type));
this.recorder = new MediaRecorder(stream, { ...(mimeType && { mimeType }), ...rates });
this.recorder.ondataavailable = ({ data }) => { if (data.size) this.#chunks.push(data); };
this.#ended = new Promise((resolve) => { this.recorder.onstop = resolve; });
this.recorder.start(1000);
if (onlevel) this.#measure(onlevel);
}

get duration() { return Math.round(this.#before + (this.recorder.state === "recording" ? performance.now() - this.#since : 0)); }

pause() {
if (this.recorder.state !== "recording") return;
this.#before = this.duration;
this.recorder.pause();
}

async finish() {
this.#before = this.duration;
if (this.recorder.state !== "inactive") this.recorder.stop();
await this.#ended;
this.#release();
const type = this.recorder.mimeType || this.#chunks[0]?.type || (this.stream.getVideoTracks().length > 0 ? "video/webm" : "audio/webm");
return { file: new Blob(this.#chunks, { type: type.split(";")[0] }), duration: this.#before, wave: waveOf(this.#levels) };
}

cancel() {
this.recorder.ondataavailable = null;
if (this.recorder.state !== "inactive") this.recorder.stop();
this.#release();
}

#measure(onlevel) {
this.#context = new AudioContext();
const analyser = this.#context.createAnalyser();
analyser.fftSize = 1024;
this.#context.createMediaStreamSource(this.stream).connect(analyser);
const samples = new Float32Array(analyser.fftSize);
this.#timer = setInterval(() => {
if (this.recorder.state !== "recording") return;
analyser.getFloatTimeDomainData(samples);
const level = Math.min(1, Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) * 3);
this.#levels.push(level);
onlevel(level);
}, STEP);
}

#release() {
clearInterval(this.#timer);
this.#context?.close();
this.#context = null;
for (const track of this.stream.getTracks()) track.stop();
}
}
return { canRecord, recordVoice, openCamera, recordFilm };
})();
const $views_voicebar = (() => {

const { announce, h, Scope } = $views_dom;
const { icon } = $views_icons;
const { toast } = $views_toast;
const { canRecord, recordVoice } = $media_recorder;
const { duration } = $i18n_format;
const { t } = $i18n_index;

const HOLD = 350;
const CANCEL = 90;
const LOCK = 70;
const LONGEST = 15 * 60_000;
const SHORTEST = 400;
const BARS = 40;

function slide(x, y, isRightToLeft = false) {
if ((isRightToLeft ? x : -x) > CANCEL) return "cancel";
return -y > LOCK ? "lock" : null;
}

class VoiceBar {
#phase = "idle";
#recording = null;
#attempt = 0;
#scope = new Scope();
#pressed = null;

constructor({ send, changed, focus }) {
Object.assign(this, { send, changed, focus });
this.button = h("button", { type: "button", id: "record", class: "send", "aria-label": t("recordVoice"), title: t("recordHint"), hidden: !canRecord() }, icon("voice"));
this.time = h("span", { class: "time", role: "timer" });
this.bars = h("span", { class: "wave", "aria-hidden": "true" });
this.hint = h("span", { class: "hint small muted" });
this.element = h("div", { class: "record-strip", role: "group", "aria-label": t("recording"), hidden: true },
h("button", { type: "button", class: "icon-button danger", "aria-label": t("recordCancel"), onclick: () => this.cancel() }, icon("trash")),
h("span", { class: "record-dot" }), this.time, this.bars, this.hint);
this.button.addEventListener("pointerdown", (event) => this.#press(event));
this.button.addEventListener("pointermove", (event) => this.#move(event));
this.button.addEventListener("pointerup", (event) => this.#release(event));
this.button.addEventListener("pointercancel", () => this.#pressed && this.cancel());
this.button.addEventListener("contextmenu", (event) => event.preventDefault());
this.button.addEventListener("click", (event) => { if (event.detail === 0 && this.#phase === "idle") this.#begin("locked"); });
}

get isAvailable() { return canRecord(); }
get isActive() { return this.#phase !== "idle"; }
get isLocked() { return this.#phase === "locked"; }

close() {
this.cancel({ quiet: true });
}

async #begin(phase) {
const attempt = (this.#attempt += 1);
this.#phase = "starting";
this.#scope.listen(document, "keydown", (event) => {
if (event.key !== "Escape") return;
event.preventDefault();
event.stopPropagation();
this.cancel();
}, { capture: true });
this.bars.replaceChildren();
this.time.textContent = duration(0);
this.#show(phase);
try {
const recording = await recordVoice((level) => this.#level(level));
if (attempt !== this.#attempt) return recording.cancel();
this.#recording = recording;
} catch (error) {
console.warn(error);
if (attempt !== this.#attempt) return;
this.#end();
toast(t(error.name === "NotAllowedError" ? "microphoneRefused" : "microphoneFailed"), { role: "alert" });
return;
}
this.#show(phase === "held" && this.#pressed ? "held" : "locked");
announce(t("recording"));
const clock = setInterval(() => this.#tick(), 200);
this.#scope.add(() => clearInterval(clock));
}

#show(phase) {
if (this.#recording) this.#phase = phase;
this.element.hidden = false;
this.element.classList.toggle("held", phase === "held");
this.hint.textContent = t(phase === "held" ? "recordSlide" : "recordLocked");
this.changed();
if (this.#phase === "locked") this.focus();
}

#tick() {
const time = this.#recording?.duration ?? 0;
this.time.textContent = duration(time);
if (time >= LONGEST) this.#recording.pause();
}

#level(level) {
this.bars.append(h("i", { style: { height: `${Math.round(12 + level * 88)}%` } }));
while (this.bars.children.length > BARS) this.bars.firstElementChild.remove();
}


#press(event) {
if (event.button !== 0 || this.isActive) return;
event.preventDefault();
this.#pressed = { x: event.clientX, y: event.clientY, at: performance.now() };
try { this.button.setPointerCapture(event.pointerId); } catch { /* the pointer has gone */ }
this.#begin("held");
}

#move(event) {
if (!this.#pressed || this.#phase !== "held") return;
const [x, y] = [event.clientX - this.#pressed.x, event.clientY - this.#pressed.y];
const action = slide(x, y, getComputedStyle(this.element).direction === "rtl");
this.element.style.setProperty("--slide", `${Math.max(-CANCEL, Math.min(0, x))}px`);
if (action === "cancel") this.cancel();
else if (action === "lock") {
this.#pressed = null;
this.#show("locked");
announce(t("recordLocked"));
}
}

#release() {
const pressed = this.#pressed;
this.#pressed = null;
if (!pressed || this.#phase !== "held") return;
if (performance.now() - pressed.at < HOLD) this.#show("locked");
else this.finish();
}


async finish() {
const recording = this.#recording;
if (!recording) return;
this.#end();
const made = await recording.finish();
if (made.duration < SHORTEST || made.file.size === 0) toast(t("recordShort"));
else this.send(made);
}

cancel({ quiet = false } = {}) {
if (!this.isActive) return;
this.#recording?.cancel();
this.#end();
if (quiet) return;
announce(t("recordCancelled"));
this.focus();
}

#end() {
this.#attempt += 1;
this.#recording = null;
this.#pressed = null;
this.#phase = "idle";
this.#scope.close();
this.element.hidden = true;
this.element.classList.remove("held");
this.element.style.removeProperty("--slide");
this.changed();
}
}
return { slide, VoiceBar };
})();
const $views_composer = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { Completion } = $views_completion;
const { emojiPicker } = $views_emojipicker;
const { openMenu } = $views_menu;
const { withPanels } = $views_later;
const { sendFiles } = $views_sendfiles;
const { ScheduledLine } = $views_scheduledline;
const { SlowLine } = $views_slowmode;
const { attempt, toast } = $views_toast;
const { Tray } = $views_tray;
const { VoiceBar } = $views_voicebar;
const { actorName, eventText, isGroup, permits, userName } = $views_model;
const { parseMarkdown } = $text_markdown;
const { shortDate, span } = $i18n_format;
const { t } = $i18n_index;

const quietly = (promise) => promise?.catch?.(() => {});

class Composer {
#reply = null;
#edit = null;
#draftTimer = 0;
#saved = null;
#typingAt = -Infinity;
#isTouched = false;
#turn = Promise.resolve();

constructor(view) {
this.view = view;
this.state = view.state;
this.id = view.id;
this.#build();
this.completion = new Completion(this);
this.#showDraft();
this.#update();
}

#showDraft() {
if (this.view.thread !== null || this.#edit) return;
const draft = this.state.draft(this.id);
if (!this.text && !this.#reply && !draft?.text) this.#isTouched = false;
if (this.#isTouched || (draft?.text ?? "") === this.text) return;
this.input.value = draft?.text ?? "";
this.#reply = draft?.ref && this.view.head ? this.state.event?.(this.id, draft.ref) ?? null : null;
this.#update();
}

close() {
clearTimeout(this.#draftTimer);
this.#saveDraft();
this.tray.close();
this.voice.close();
this.slow.close();
this.scheduled.close();
this.completion.dispose();
this.element.remove();
}

#build() {
this.bar = h("div", { class: "reply-bar", hidden: true });
this.tray = new Tray(this.state, () => { this.#update(); this.focus(); });
this.input = h("textarea", { id: "message", rows: "1", maxlength: "8000", placeholder: t("messagePlaceholder"), "aria-label": t("messagePlaceholder"), "aria-autocomplete": "list", enterkeyhint: "send" });
this.attach = h("button", { type: "button", class: "icon-button", "aria-label": t("attach"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => this.#attachMenu() }, icon("paperclip"));
this.smile = h("button", { type: "button", class: "icon-button", "aria-label": t("emoji"), "aria-haspopup": "dialog", "aria-expanded": "false", onclick: () => emojiPicker(this.smile, (face) => this.insert(face), () => this.focus()) }, icon("smile"));
this.sendButton = h("button", { type: "submit", id: "send", class: "send", "aria-label": t("send") }, icon("send"));
this.slow = new SlowLine(this.view);
this.scheduled = new ScheduledLine(this.view);
this.voice = new VoiceBar({ send: (recording) => this.#sendVoice(recording), changed: () => this.#update(), focus: () => (this.voice.isLocked ? this.sendButton : this.input).focus({ preventScroll: true }) });
this.row = h("div", { class: "input-row" }, this.attach, this.input, this.smile, this.voice.element, this.sendButton, this.voice.button);
this.frame = h("div", { class: "frame" }, this.scheduled.element, this.slow.element, this.bar, this.tray.element, this.row);
this.element = h("form", { class: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } }, this.frame, this.tray.picker);
this.input.addEventListener("input", () => this.#changed());
this.input.addEventListener("keydown", (event) => this.#typed(event));
this.input.addEventListener("paste", (event) => {
if (!event.clipboardData?.files.length) return;
event.preventDefault();
this.tray.add(event.clipboardData.files);
});
this.sendButton.addEventListener("contextmenu", (event) => { event.preventDefault(); this.#sendMenu(); });
this.tray.accept(this.view.element, this.view.box, () => this.element.isConnected);
}

focus() {
this.input.focus({ preventScroll: true });
}

insert(text) {
this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, "end");
this.focus();
this.#changed();
}

updateHead(head) {
this.slow.update();
this.#showDraft();
this.#updateButtons(head);
}

get text() {
return this.input.value;
}


reply(row) {
this.#isTouched = true;
this.#edit = null;
this.#reply = row;
this.#update();
this.focus();
}

edit(row) {
withPanels(({ toMarkdown }) => {
this.#isTouched = true;
this.#reply = null;
this.#edit = row;
this.input.value = toMarkdown(row.body?.text ?? "", row.body?.entities);
this.#update();
this.focus();
this.input.setSelectionRange(this.input.value.length, this.input.value.length);
});
}

cancel() {
if (this.#edit) this.input.value = this.state.draft(this.id)?.text ?? "";
const had = this.#edit || this.#reply;
this.#edit = null;
this.#reply = null;
this.#update();
return Boolean(had);
}

#update() {
const row = this.#edit ?? this.#reply;
this.bar.hidden = !row;
if (row) {
replace(this.bar, icon(this.#edit ? "edit" : "reply"),
h("span", { class: "grow" }, h("strong", {}, this.#edit ? t("editMessage") : t("replyTo", { name: actorName(this.state, row.sender) })),
h("div", { class: "ellipsis muted" }, eventText(this.state, row).slice(0, 160))),
h("button", { type: "button", class: "icon-button", "aria-label": t("cancel"), onclick: () => { this.cancel(); this.focus(); } }, icon("close")));
}
replace(this.sendButton, icon(this.#edit ? "check" : "send"));
this.sendButton.setAttribute("aria-label", t(this.#edit ? "save" : "send"));
this.#updateButtons();
this.#fit();
}

#updateButtons(head = this.view.head) {
const expire = head?.settings?.expire;
this.input.placeholder = expire ? t("disappearingOn", { time: span(expire) }) : t(this.tray.isEmpty ? "messagePlaceholder" : "captionPlaceholder");
const { isActive, isLocked, isAvailable } = this.voice;
const isEmpty = !this.text.trim() && this.tray.isEmpty;
const records = isAvailable && isEmpty && !this.#edit && !isLocked;
for (const each of [this.attach, this.input, this.smile]) each.hidden = isActive;
this.voice.button.hidden = !records;
this.sendButton.hidden = records;
this.sendButton.disabled = isEmpty && !isLocked;
}

#fit() {
if (CSS.supports("field-sizing", "content")) return;
this.input.style.height = "auto";
this.input.style.height = `${Math.min(this.input.scrollHeight, innerHeight * 0.4)}px`;
}


#changed() {
this.#isTouched = true;
this.#updateButtons();
this.#fit();
this.completion.update();
if (this.text.trim() && performance.now() - this.#typingAt > 4000) {
this.#typingAt = performance.now();
quietly(this.state.sendTyping(this.id));
}
clearTimeout(this.#draftTimer);
this.#draftTimer = setTimeout(() => this.#saveDraft(), 700);
}

#saveDraft() {
if (!this.#isTouched || this.#edit || this.view.thread !== null) return;
const { text } = this;
const ref = this.#reply?.seq;
const isSame = (draft) => (draft?.text ?? "") === text && draft?.ref === ref;
if (isSame(this.state.draft(this.id)) && (!this.#saved || isSame(this.#saved))) return;
this.#saved = { text, ref };
quietly(this.state.saveDraft(this.id, text, ref));
}

#typed(event) {
if (event.isComposing || this.completion.typed(event)) return;
if (event.key === "Enter" && !event.shiftKey && !event.altKey && this.view.app.preferences.enterSends) {
event.preventDefault();
this.submit();
} else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
event.preventDefault();
this.submit();
} else if (event.key === "ArrowUp" && !this.text && !event.shiftKey) {
const row = this.view.lastOwn();
event.preventDefault();
if (row) this.edit(row);
else this.view.focusLog();
} else if (event.key === "Escape" && this.cancel()) {
event.preventDefault();
event.stopPropagation();
} else if ((event.ctrlKey || event.metaKey) && (event.key === "b" || event.key === "i")) {
event.preventDefault();
this.#wrap(event.key === "b" ? "**" : "*");
}
}

#wrap(mark) {
const { selectionStart: start, selectionEnd: end } = this.input;
this.input.setRangeText(`${mark}${this.text.slice(start, end)}${mark}`, start, end, "preserve");
this.input.setSelectionRange(start + mark.length, end + mark.length);
this.#changed();
}


#attachMenu() {
withPanels(({ openAttachMenu }) => openAttachMenu(this, {
send: async (made) => {
const content = await made;
if (!content) return;
const where = this.#takeWhere();
attempt(this.#send(content.kind, content.body, { where }));
},
schedule: () => this.#schedule(),
}));
}

#sendMenu() {
openMenu(this.sendButton, [
{ icon: "bellOff", label: t("sendSilently"), run: () => this.submit({ silent: true }) },
{ icon: "calendar", label: t("schedule"), run: () => this.#schedule() },
], { label: t("send") });
}

async #schedule() {
if (!this.text.trim()) return;
const at = await withPanels(({ scheduleTime }) => scheduleTime());
if (at) this.submit({ at });
this.focus();
}


#body(source) {
const { head } = this.view;
const names = new Map();
for (const { user } of this.completion.members) {
names.set(user.name.toLowerCase(), user.name);
const shown = userName(this.state, user.name).toLowerCase();
if (!/\s/.test(shown) && !names.has(shown)) names.set(shown, user.name);
}
const all = isGroup(head) && permits(head, "mention_all", "admins") ? new Set(["all", t("mentionAll").toLowerCase()]) : new Set();
const { text, entities } = parseMarkdown(source, { mentions: names, all });
return entities.length ? { text, entities } : { text };
}

submit(options = {}) {
if (this.voice.isActive) {
this.voice.finish();
return;
}
const source = this.text;
this.#isTouched = true;
if (this.#edit) {
const row = this.#edit;
this.#edit = null;
this.input.value = this.state.draft(this.id)?.text ?? "";
this.#update();
this.#inTurn(source, (body) => body.text && this.state.edit(this.id, row.seq, { ...row.body, entities: undefined, preview: undefined, forwarded: undefined, ...body }));
return;
}
if (!source.trim() && this.tray.isEmpty) return;
const files = this.tray.take();
const where = this.#where();
this.input.value = "";
this.#reply = null;
if (files.length) {
this.#inTurn(source, (caption) => sendFiles(this.view, files, caption, { ...where, silent: options.silent }));
} else this.#inTurn(source, (body) => body.text && this.#send("text", body, { ...options, where }));
this.#typingAt = -Infinity;
clearTimeout(this.#draftTimer);
this.#saveDraft();
this.#update();
this.completion.close();
}

#inTurn(source, work) {
this.#turn = this.#turn.then(async () => {
await quietly(this.completion.resolve(source));
await attempt(Promise.resolve(work(this.#body(source))));
});
}

#sendVoice({ file, duration, wave }) {
const body = { type: file.type, size: file.size, duration, voice: true, wave };
attempt(this.state.send(this.id, { kind: "audio", file, body, ...this.#takeWhere() }).then(() => this.view.sent()));
}

#where() {
return { ref: this.#reply?.seq, thread: this.view.thread ?? undefined };
}

#takeWhere() {
const where = this.#where();
this.#reply = null;
this.#update();
return where;
}

async #send(kind, body, { silent, at, where }) {
if (at) {
await this.state.schedule(this.id, { kind, body, ...where, silent }, at);
toast(t("scheduledFor", { time: shortDate(at) }));
return;
}
await this.state.send(this.id, { kind, body, ...where, silent });
requestAnimationFrame(() => this.view.sent());
}
}
return { Composer };
})();
const $views_contactbar = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { confirm } = $views_dialog;
const { lookalikeNote } = $views_lookalike;
const { answerRequest, askForContact } = $views_requests;
const { attempt } = $views_toast;
const { userName } = $views_model;
const { t } = $i18n_index;

class ContactBar {
#shown = null;

constructor(view) {
this.view = view;
this.state = view.state;
this.element = h("div", { class: "contact-bar", role: "region", "aria-label": t("notAContact"), hidden: true });
this.end = this.state.subscribe("contacts", () => this.update());
}

close() {
this.end();
}

update() {
const { head, thread } = this.view;
const name = head.kind === "pair" && thread === null ? head.peer?.name : null;
const contact = name ? this.state.contact(name) : null;
const isStranger = this.view.ready && name && !contact && !this.state.user(name)?.deleted && head.last?.sender === name && !this.view.hasWritten;
const kind = contact?.state === "asked" ? "asked" : isStranger || (this.#shown === "stranger" && !contact) ? "stranger" : null;
const key = kind && `${kind} ${userName(this.state, name)}`;
this.#shown = kind;
this.element.hidden = !kind;
if (this.key === key) return;
this.key = key;
if (kind) replace(this.element, lookalikeNote(this.state, name), kind === "asked" ? this.#request(name, contact) : null, h("div", { class: "button-row" }, kind === "asked" ? this.#answers(name) : this.#choices(name)));
}

#request(name, { text }) {
return h("div", { class: "lines" }, h("div", { class: "small muted" }, t("newRequest", { name: userName(this.state, name) })), text ? h("p", { class: "said" }, text) : null);
}

#answers(name) {
const { state } = this;
return [h("button", { type: "button", class: "button small primary", onclick: () => answerRequest(state, name, true) }, t("accept")),
h("button", { type: "button", class: "button small", onclick: () => answerRequest(state, name, false) }, t("decline")), this.#block(name)];
}

#choices(name) {
const { app } = this.view;
return [h("button", { type: "button", class: "button small", onclick: () => askForContact(app, name) }, icon("personAdd"), t("addContact")), this.#block(name),
h("button", { type: "button", class: "button small quiet danger", onclick: () => app.report({ user: name }) }, t("report"))];
}

#block(name) {
const { state } = this;
return h("button", { type: "button", class: "button small quiet danger", onclick: async () => {
if (await confirm(t("blockQuestion", { name: userName(state, name) }), { yes: t("block"), dangerous: true })) attempt(state.block(name));
} }, t("block"));
}
}
return { ContactBar };
})();
const $views_pictures = (() => {

const { h, remoteImage } = $views_dom;
const { icon } = $views_icons;
const { blurCanvas } = $text_blurhash;
const { duration, percent } = $i18n_format;
const { t } = $i18n_index;

const ANIMATED = 8_000_000;
const PLAYED = 30_000_000;
const SHORT = 120_000;

const isStill = matchMedia("(prefers-reduced-motion: reduce)");

function fit(width, height, limit = Math.min(420, innerWidth - 84)) {
const ratio = Math.max(0.4, Math.min(2.6, (width || 4) / (height || 3)));
const shown = Math.max(150, Math.min(limit, width || limit, 380 * ratio));
return { width: Math.round(shown), height: Math.round(Math.max(90, shown / ratio)) };
}

function albumOf(context, { parts }) {
return h("div", { class: "album", role: "group", "aria-label": t("albumOf", { n: parts.length }) }, parts.map((part) => {
const tile = picture(context, part, part.body, null);
tile.dataset.part = part.key;
return tile;
}));
}

function previewURL(state, row, size = 800) {
const { body } = row;
if (row.kind === "video") return body.poster ? state.blobURL(body.poster, size) : null;
if (row.localURL) return row.localURL;
if (!body.blob) return null;
const moves = (body.type === "image/gif" || body.type === "image/webp") && body.size <= ANIMATED && !isStill.matches;
return state.blobURL(body.blob, moves ? undefined : size);
}

function picture({ state, actions }, row, body, size = fit(body.width, body.height)) {
const isFilm = row.kind === "video";
const waits = row.status === "uploading" || (row.status === "queued" && row.local);
const label = isFilm ? `${t("openVideo")}, ${duration(body.duration ?? 0)}` : t("openPicture");
const style = size ? { width: `${size.width}px`, height: `${size.height}px` } : {};
const named = body.text ? `${label}: ${body.text}` : label;
const box = waits ? h("div", { class: "picture", style }) : h("button", { type: "button", class: "picture", "aria-label": named, style, onclick: () => actions.openPicture(row) });
const blur = blurCanvas(body.thumb);
if (blur) box.append(blur);
const src = previewURL(state, row);
if (src) {
const image = remoteImage(src, { onload: () => image.classList.add("loaded") });
box.append(image);
}
if (isFilm) film(box, row, state);
if (waits) box.append(progress(row, actions));
return box;
}

function progress(row, actions) {
const value = Math.max(0, Math.min(1, row.progress ?? 0));
return h("span", { class: "progress" },
h("button", { type: "button", class: "cancel-upload", "data-focus": "cancel", "aria-label": t("cancelUpload"), title: t("cancelUpload"), style: { "--value": `${Math.round(value * 360)}deg` }, onclick: () => actions.discard(row) }, icon("close")),
h("span", { role: "progressbar", "aria-label": t("statusUploading"), "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": String(Math.round(value * 100)) }, percent(value)));
}


function film(box, row, state) {
const { body } = row;
const src = row.localURL ?? (body.blob ? state.blobURL(body.blob) : null);
const isShort = body.size <= PLAYED && body.duration <= SHORT;
box.classList.add("film");
box.append(h("span", { class: "film-mark" }, icon("play")), h("span", { class: "film-time" }, duration(body.duration ?? 0)));
if (!src || !isShort || isStill.matches || navigator.connection?.saveData) return;
box.dataset.film = src;
watcher.observe(box);
}

const watcher = new IntersectionObserver((entries) => {
for (const { target, isIntersecting } of entries) {
const before = target.querySelector("video");
if (isIntersecting && !before) begin(target);
else if (!isIntersecting && before) end(target, before);
}
}, { threshold: 0.6 });

function begin(box) {
const video = h("video", { src: box.dataset.film, playsinline: true, loop: true, tabindex: "-1", "aria-hidden": "true" });
video.muted = true;
video.addEventListener("playing", () => box.classList.add("playing"));
video.addEventListener("error", () => end(box, video));
(box.querySelector("img, canvas:last-of-type") ?? box.firstChild).after(video);
video.play().catch(() => end(box, video));
}

function end(box, video) {
box.classList.remove("playing");
video.pause();
video.removeAttribute("src");
video.remove();
}
return { fit, albumOf, previewURL, picture, progress };
})();
const $views_place = (() => {

const { h, svg } = $views_dom;
const { icon } = $views_icons;
const { number } = $i18n_format;
const { t } = $i18n_index;

const [WIDTH, HEIGHT] = [280, 132];
const APART = 58;
const METRES = 111_320;
const STEPS = [90, 45, 30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];

const within = (value, limit) => typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= limit;

function coordinatesOf(body) {
const { latitude, longitude, accuracy } = body ?? {};
if (!within(latitude, 90) || !within(longitude, 180)) return null;
return { latitude, longitude, accuracy: within(accuracy, 1_000_000) ? Math.max(0, accuracy) : 0 };
}

function coordinatesText({ latitude, longitude }, digits = 4) {
const part = (value, above, below) => t(value < 0 ? below : above, { degrees: `${Math.abs(value).toFixed(digits)}°` });
return t("coordinates", { latitude: part(latitude, "north", "south"), longitude: part(longitude, "east", "west") });
}

const distance = (metres) => (metres >= 1000 ? `${number(metres / 1000)} km` : `${number(metres)} m`);

function sketch({ latitude, longitude, accuracy }) {
const span = Math.max(0.01, Math.min(60, (accuracy * 4) / METRES));
const perDegree = HEIGHT / span;
const narrow = Math.max(0.05, Math.cos((latitude * Math.PI) / 180));
const x = (value) => WIDTH / 2 + (value - longitude) * perDegree * narrow;
const y = (value) => HEIGHT / 2 - (value - latitude) * perDegree;
const [north, east] = [perDegree, perDegree * narrow].map((pixels) => stepOf(pixels));
const lines = [];
for (const value of marks(latitude, north.step, span / 2)) {
if (Math.abs(value) > 90) continue;
lines.push(svg("path", { class: "grid", d: `M0 ${y(value).toFixed(1)}H${WIDTH}` }), svg("text", { x: "5", y: (y(value) - 4).toFixed(1) }, `${value.toFixed(north.digits)}°`));
}
for (const value of marks(longitude, east.step, (WIDTH / 2) / (perDegree * narrow))) {
const shown = ((((value + 180) % 360) + 360) % 360) - 180;
lines.push(svg("path", { class: "grid", d: `M${x(value).toFixed(1)} 0V${HEIGHT}` }), svg("text", { x: (x(value) + 4).toFixed(1), y: "12" }, `${shown.toFixed(east.digits)}°`));
}
const [wide, label] = scale(perDegree / METRES);
const [cx, cy] = [WIDTH / 2, HEIGHT / 2];
return svg("svg", { class: "sketch", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true" }, lines,
accuracy ? svg("circle", { class: "accuracy", cx, cy, r: Math.min(HEIGHT, Math.max(6, (accuracy / METRES) * perDegree)).toFixed(1) }) : null,
svg("path", { class: "cross", d: `M${cx} ${cy - 20}V${cy + 20}M${cx - 20} ${cy}H${cx + 20}` }), svg("circle", { class: "spot", cx, cy, r: "6" }),
svg("path", { class: "scale", d: `M${WIDTH - 10 - wide} ${HEIGHT - 14}v5h${wide}v-5` }), svg("text", { class: "end", x: WIDTH - 10, y: HEIGHT - 18 }, label));
}

function stepOf(pixels) {
const step = STEPS.findLast((each) => each * pixels >= APART) ?? STEPS[0];
return { step, digits: Math.max(0, Math.ceil(-Math.log10(step))) };
}

function marks(middle, step, reach) {
const first = Math.ceil((middle - reach) / step);
const count = Math.min(8, Math.floor((middle + reach) / step) - first + 1);
return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}

function scale(perMetre) {
const longest = 100 / perMetre;
const unit = 10 ** Math.floor(Math.log10(longest));
const metres = [5, 2, 1].map((each) => each * unit).find((each) => each <= longest) ?? unit;
return [Math.round(metres * perMetre), distance(metres)];
}

function placeLinks({ latitude, longitude }, name) {
const at = `${latitude},${longitude}`;
return {
system: `geo:${at}?q=${at}${name ? `(${encodeURIComponent(name)})` : ""}`,
web: `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`,
};
}

function place(context, row, body) {
const at = coordinatesOf(body);
const name = typeof body.name === "string" ? body.name.slice(0, 200) : "";
const address = typeof body.address === "string" ? body.address.slice(0, 300) : "";
const title = name || t("location");
if (!at) return h("div", { class: "place" }, h("span", { class: "file-icon" }, icon("pinPlace")), h("span", { class: "name" }, title));
const links = placeLinks(at, name);
const link = (href, text) => h("a", { class: "link", href, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
const text = [address, coordinatesText(at), at.accuracy ? t("accuracy", { distance: distance(Math.round(at.accuracy)) }) : ""].filter(Boolean).join(" · ");
return h("div", { class: "place-card", role: "group", "aria-label": `${t("location")}${t("colon")}${title}` },
sketch(at), h("div", { class: "name" }, h("bdi", {}, title)), h("div", { class: "sub" }, text),
h("div", { class: "place-links" }, link(links.system, t("openInMaps")), link(links.web, "OpenStreetMap")));
}
return { coordinatesOf, coordinatesText, sketch, placeLinks, place };
})();
const $media_played = (() => {

const KEY = "apus-played";
const MOST = 2000;

function load(user) {
try {
const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
return stored.user === user && Array.isArray(stored.keys) ? stored.keys : [];
} catch {
return [];
}
}

let cached = { user: null, keys: new Set() };

function played(user) {
if (cached.user !== user) cached = { user, keys: new Set(load(user)) };
return cached.keys;
}

const wasPlayed = (user, key) => played(user).has(key);

function markPlayed(user, key) {
const keys = played(user);
if (keys.has(key)) return;
keys.add(key);
if (keys.size > MOST) keys.delete(keys.values().next().value);
try {
localStorage.setItem(KEY, JSON.stringify({ user, keys: [...keys] }));
} catch {
}
}

function forgetPlayed() {
cached = { user: null, keys: new Set() };
try {
localStorage.removeItem(KEY);
} catch {
}
}
return { wasPlayed, markPlayed, forgetPlayed };
})();
const $media_player = (() => {

const RATES = [1, 1.5, 2];

class Player {
#audio = null;
#track = null;
#rate = 0;
#listeners = new Set();

get rate() { return RATES[this.#rate]; }
get key() { return this.#track?.key ?? null; }

at(key, duration) {
if (this.key !== key) return { playing: false, seconds: 0, fraction: 0 };
const seconds = this.#audio.currentTime;
return { playing: !this.#audio.paused, seconds, fraction: Math.min(1, duration > 0 ? (seconds * 1000) / duration : 0) };
}

listen(listener) {
this.#listeners.add(listener);
return () => this.#listeners.delete(listener);
}

async toggle(track) {
if (this.key === track.key && !this.#audio.paused) return this.#audio.pause();
if (this.key !== track.key) this.#load(track);
await this.#play();
}

seek(track, fraction) {
if (this.key !== track.key) this.#load(track);
const seconds = (Math.max(0, Math.min(1, fraction)) * track.duration) / 1000;
if (Number.isFinite(seconds)) this.#audio.currentTime = seconds;
this.#tell();
}

nextRate() {
this.#rate = (this.#rate + 1) % RATES.length;
if (this.#audio) this.#audio.playbackRate = this.#audio.defaultPlaybackRate = this.rate;
this.#tell();
}

stop() {
if (!this.#audio) return;
this.#audio.pause();
this.#audio.removeAttribute("src");
this.#track = null;
this.#tell();
}

#load(track) {
this.#audio ??= this.#make();
this.#track = track;
this.#audio.src = track.src;
this.#audio.defaultPlaybackRate = this.#audio.playbackRate = this.rate;
this.#tell();
}

async #play() {
const track = this.#track;
try {
await this.#audio.play();
track.started?.();
} catch (error) {
if (error.name !== "AbortError" && this.#track === track) this.#failed();
}
}

#make() {
const audio = new Audio();
audio.preload = "auto";
for (const type of ["play", "pause", "timeupdate", "seeked"]) audio.addEventListener(type, () => this.#tell());
audio.addEventListener("ended", () => this.#ended());
return audio;
}

#ended() {
const next = this.#track?.next?.() ?? null;
if (!next) return this.stop();
this.#load(next);
this.#play();
}

#failed() {
const { onfailed } = this;
this.stop();
onfailed?.();
}

#tell() {
for (const listener of [...this.#listeners]) listener();
}
}

const player = new Player();
return { player };
})();
const $views_voice = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { toast } = $views_toast;
const { markPlayed, wasPlayed } = $media_played;
const { player } = $media_player;
const { levelsOf } = $media_wave;
const { duration: clockOf, number } = $i18n_format;
const { t } = $i18n_index;

const LONGEST = 86_400_000;
const STEP = 0.05;

const lengthOf = (body) => (Number.isFinite(body.duration) ? Math.max(0, Math.min(LONGEST, body.duration)) : 0);
const keyOf = (row) => `${row.conv}/${row.key}`;

function trackOf(context, row) {
const { state, actions } = context;
const { body } = row;
const src = row.localURL ?? (body.blob ? state.blobURL(body.blob) : null);
if (!src) return null;
return {
key: keyOf(row), src, duration: lengthOf(body),
started: () => { if (!row.own && row.seq) markPlayed(state.account?.name, `${row.conv}/${row.seq}`); paint(); },
next: () => {
const next = body.voice ? actions.nextVoice?.(row) : null;
return next ? trackOf(context, next) : null;
},
};
}

function voice(context, row, body) {
const levels = levelsOf(body.wave);
const track = trackOf(context, row);
const name = body.voice ? t("voiceMessage") : body.name ?? t("audio");
const button = h("button", { type: "button", class: "file-icon play", "data-focus": "play", disabled: !track, onclick: () => player.toggle(track) });
const place = h("span", {
class: "wave", role: "slider", tabindex: track ? "0" : "-1", "data-focus": "place", "aria-label": t("playPlace"), "aria-valuemin": "0", "aria-valuemax": String(Math.round(lengthOf(body) / 1000)),
onpointerdown: (event) => {
const { left, width } = place.getBoundingClientRect();
if (track && width) player.seek(track, (event.clientX - left) / width);
},
onkeydown: (event) => {
const step = { ArrowLeft: -STEP, ArrowRight: STEP, ArrowDown: -STEP, ArrowUp: STEP, Home: -1, End: 1 }[event.key];
if (!step || !track) return;
event.preventDefault();
event.stopPropagation();
player.seek(track, player.at(track.key, track.duration).fraction + step);
},
}, levels.length ? levels.map((level) => h("i", { style: { height: `${Math.round(12 + level * 88)}%` } })) : h("b", {}));
const speed = h("button", { type: "button", class: "speed", "data-focus": "speed", onclick: () => player.nextRate() });
const time = h("span", { class: "time" });
const element = h("div", { class: "voice", role: "group", "aria-label": name, "data-voice": keyOf(row), "data-length": lengthOf(body), "data-played": row.own || !body.voice ? null : `${row.conv}/${row.seq}`, "data-listener": context.state.account?.name },
button, h("span", { class: "grow" }, body.voice ? null : h("span", { class: "name ellipsis" }, name), place, h("span", { class: "line" }, time, h("span", { class: "unplayed", role: "img", "aria-label": t("notPlayed"), title: t("notPlayed"), hidden: true }), speed)));
show(element);
return element;
}

function paint() {
for (const element of document.querySelectorAll(".voice[data-voice]")) show(element);
}

function show(element) {
const length = Number(element.dataset.length);
const { playing, seconds, fraction } = player.at(element.dataset.voice, length);
const isCurrent = player.key === element.dataset.voice;
const button = element.querySelector(".play");
if (button.dataset.shown !== String(playing)) {
button.dataset.shown = String(playing);
button.replaceChildren(icon(playing ? "pause" : "play"));
button.setAttribute("aria-label", `${t(playing ? "pause" : "play")}, ${clockOf(length)}`);
}
const shown = isCurrent ? seconds * 1000 : length;
element.querySelector(".time").textContent = clockOf(shown);
const place = element.querySelector(".wave");
place.setAttribute("aria-valuenow", String(Math.round(isCurrent ? seconds : 0)));
place.setAttribute("aria-valuetext", t("placeOf", { time: clockOf(isCurrent ? shown : 0), length: clockOf(length) }));
place.style.setProperty("--played", `${Math.round(fraction * 100)}%`);
const bars = place.children;
for (let index = 0; index < bars.length; index += 1) bars[index].classList.toggle("done", isCurrent && index < fraction * bars.length);
const speed = element.querySelector(".speed");
speed.hidden = !isCurrent;
speed.textContent = `${number(player.rate)}×`;
speed.setAttribute("aria-label", t("playSpeed", { rate: number(player.rate) }));
const { played, listener } = element.dataset;
element.querySelector(".unplayed").hidden = !played || wasPlayed(listener, played);
}

player.listen(paint);
player.onfailed = () => toast(t("playFailed"), { role: "alert" });
return { voice };
})();
const $views_attachments = (() => {

const { h, uniqueID } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { callText, showsVoters, userName } = $views_model;
const { picture, progress } = $views_pictures;
const { place } = $views_place;
const { voice } = $views_voice;
const { fileSize, percent, shortDate } = $i18n_format;
const { t } = $i18n_index;

const BODIES = { image: picture, video: picture, audio: voice, file, location: place, card, call, poll, bundle, encrypted: sealed };

function bodyOf(context, row) {
return BODIES[row.kind](context, row, row.body ?? {});
}

const plainName = (name) => String(name ?? t("file")).replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, "").slice(0, 255) || t("file");

function endingOf(name) {
const ending = name.match(/\.([\p{L}\p{N}]{1,5})$/u)?.[1];
return ending ? h("span", { class: "ending", "aria-hidden": "true" }, ending.toLocaleUpperCase()) : icon("file");
}

function file({ state, actions }, row, body) {
const url = body.blob && !row.local ? state.blobURL(body.blob) : null;
const name = plainName(body.name);
const waits = row.local && (row.status === "uploading" || row.status === "queued");
const text = h("span", { class: "grow" }, h("span", { class: "name" }, h("bdi", {}, name)), h("span", { class: "sub" }, fileSize(Number(body.size) || 0)));
if (waits) return h("div", { class: "file waits" }, h("span", { class: "file-icon" }, endingOf(name)), text, progress(row, actions));
return h(url ? "a" : "div", { class: "file", href: url, download: url ? name : null, "aria-label": url ? `${t("download")}: ${name}` : null }, h("span", { class: "file-icon" }, endingOf(name)), text);
}

function card({ state, actions }, row, { user, nick }) {
if (typeof user !== "string") return h("span", { class: "text recalled" }, t("contactCard"));
return h("button", { type: "button", class: "contact-card", onclick: () => actions.openUser(user) },
userAvatar(state, state.user(user) ?? { name: user ?? "?", nick }, { size: "m" }),
h("span", { class: "grow" }, h("div", { class: "name" }, nick ?? userName(state, user)), h("div", { class: "sub" }, `@${user}`)));
}

function call({ actions }, row, { media, state }) {
const isOver = state !== "ringing" && state !== "accepted";
return h("div", { class: `call-line${state === "missed" || state === "declined" ? " missed" : ""}` }, icon(media === "video" ? "video" : "call"), h("span", { class: "grow" }, callText(row)),
isOver && actions.call ? h("button", { type: "button", class: "link", "data-focus": "call-back", onclick: () => actions.call(media) }, t("callBack")) : null);
}

function bundle({ state }, row, { title, items = [] }) {
return h("details", { class: "quote" }, h("summary", {}, `${title ?? t("bundle")} · ${t("messageCount", { n: items.length })}`),
items.map((item) => h("p", {}, h("strong", {}, item.nick ?? userName(state, item.sender)), item.body?.text ?? t("unknownKind"))));
}

function sealed() {
return h("span", { class: "text recalled" }, t("encrypted"));
}

function poll({ state, actions, head }, row, body) {
const options = body.options ?? [];
const votes = row.votes ?? [];
const mine = new Set(row.mine?.votes ?? []);
const ended = Boolean(body.closed) || (body.closes_at ?? Infinity) <= state.now;
const shown = mine.size > 0 || ended;
const voters = votes.reduce((sum, count) => sum + count, 0);
const group = uniqueID("poll");
const cast = (index, on) => {
const next = new Set(body.multiple ? mine : []);
if (on) next.add(index);
else next.delete(index);
actions.vote(row, [...next].sort((one, other) => one - other));
};
const kind = [t(ended ? "pollClosed" : body.anonymous ? "pollAnonymous" : "pollPublic"), body.multiple ? t("pollMultiple") : null, body.closes_at && !ended ? t("pollEnds", { time: shortDate(body.closes_at) }) : null].filter(Boolean).join(" · ");
return h("fieldset", { class: "poll" }, h("legend", {}, body.question ?? ""), h("div", { class: "small muted" }, kind),
options.map((option, index) => {
const share = voters ? (votes[index] ?? 0) / voters : 0;
return h("label", { class: "option" },
h("input", { type: body.multiple ? "checkbox" : "radio", name: group, "data-focus": `option-${index}`, checked: mine.has(index), disabled: ended || !row.seq || head.state === "left", onchange: (event) => cast(index, event.target.checked) }),
h("span", {}, option), h("span", { class: "share" }, shown ? percent(share) : ""),
shown ? h("progress", { max: "1", value: share, "aria-label": `${option}: ${percent(share)}` }) : null);
}),
h("div", { class: "small muted" }, t("pollVotes", { n: voters }),
mine.size && !ended ? [" · ", h("button", { type: "button", class: "link", onclick: () => actions.vote(row, []) }, t("undo"))] : null,
showsVoters(row, state.now) ? [" · ", h("button", { type: "button", class: "link", "data-focus": "voters", "aria-haspopup": "dialog", onclick: () => actions.showVotes(row) }, t("whoVoted"))] : null));
}
return { bodyOf };
})();
const $views_message = (() => {

const { h } = $views_dom;
const { icon, ticks } = $views_icons;
const { hueOf, userAvatar } = $views_avatar;
const { partsOf } = $views_albums;
const { lookalikeMark } = $views_lookalike;
const { bodyOf } = $views_attachments;
const { albumOf } = $views_pictures;
const { actorName, customText, eventText, gone, isGroup, isNote, noteText, userName } = $views_model;
const { renderText } = $text_render;
const { isBigEmoji } = $text_emoji;
const { clock, dayTitle, fullDate, timeLeft } = $i18n_format;
const { t } = $i18n_index;

const KNOWN = new Set(["text", "image", "video", "audio", "file", "location", "card", "call", "poll", "bundle", "encrypted"]);
const STATUS = {
queued: "statusQueued", uploading: "statusUploading", sending: "statusSending", sent: "statusSent",
delivered: "statusDelivered", read: "statusRead", failed: "statusFailed",
};

function spoken(state, row) {
const label = t("spokenMessage", { name: actorName(state, row.sender), time: clock(row.at ?? Date.now()), text: eventText(state, row) });
const parts = [label];
if (row.state === "edited") parts.push(t("edited"));
if (row.own && STATUS[row.status]) parts.push(t(STATUS[row.status]));
return parts.join(", ");
}

function renderRow(context, row, shape) {
const { state, head, actions } = context;
const item = h("div", {
class: `item${shape.first ? " first" : ""}${shape.last ? " last" : ""}${shape.selected ? " selected" : ""}${shape.hit ? " hit" : ""}`,
role: "article", tabindex: shape.focusable ? "0" : "-1", "data-key": row.key, "data-seq": row.seq, "aria-label": isNote(row) ? noteText(state, row) : spoken(state, row),
});
if (shape.day) item.append(h("div", { class: "day", role: "separator" }, h("span", { class: "day-pill" }, dayTitle(row.at ?? Date.now()))));
if (shape.unread) item.append(h("div", { class: "unread-line", role: "separator" }, t("newMessages")));
if (isNote(row)) {
item.append(h("div", { class: "note" }, h("span", { class: "note-pill" }, noteText(state, row))));
return item;
}
const withAvatar = isGroup(head) && !row.own;
const message = h("div", { class: `message${row.own ? " own" : ""}${withAvatar ? "" : " alone"}` });
if (withAvatar) {
message.append(shape.last
? h("button", { type: "button", tabindex: "-1", "aria-label": userName(state, row.sender), onclick: () => actions.openUser(row.sender) }, userAvatar(state, state.user(row.sender) ?? { name: row.sender ?? "?" }, { size: "s" }))
: h("span"));
}
message.append(h("div", { class: "stack" }, bubbleBox(context, row, shape, withAvatar), partsOf(row).map((part) => reactions(context, part)), thread(context, row), partsOf(row).map((part) => failure(context, part))));
item.append(message);
return item;
}

function bubbleBox(context, row, shape, named) {
if (!context.hover) return h("div", { class: "bubble-box" }, bubble(context, row, shape, named));
const more = h("button", { type: "button", class: "bubble-more", tabindex: "-1", "aria-label": t("messageActions"), "aria-haspopup": "menu", onclick: () => context.actions.menu(row, more) }, icon("more"));
return h("div", { class: "bubble-box" }, bubble(context, row, shape, named), more);
}

function bubble(context, row, shape, named) {
const { state, actions } = context;
const lost = gone(state, row);
const media = !lost && (row.kind === "image" || row.kind === "video");
const box = h("div", { class: `bubble${media ? " media" : ""}` });
if (named && shape.first && row.sender) box.append(author(context, row.sender));
if (lost) {
box.append(h("span", { class: "text recalled" }, lost, meta(context, row)));
return box;
}
const from = row.body?.forwarded;
if (from) box.append(h("span", { class: "forwarded" }, from.sender || from.nick ? t("forwardedFrom", { name: from.nick ?? userName(state, from.sender) }) : t("forwarded")));
if (row.ref) box.append(quote(context, row));
const custom = customText(row);
if (!KNOWN.has(row.kind) && !custom) {
box.append(h("span", { class: "text recalled" }, t("unknownKind"), meta(context, row)));
return box;
}
const text = row.body?.text;
if (row.kind === "text" || custom) {
const words = text ?? "";
const nodes = renderText(words, row.body?.entities, { me: state.account?.name, open: actions.openUser, spoiler: t("spoiler") });
const big = isBigEmoji(words) && !row.ref;
box.append(h("div", { class: `text${big ? " big" : ""}` }, nodes, meta(context, row)));
if (row.body?.preview) box.append(linkPreview(row.body.preview));
return box;
}
box.append(row.parts ? albumOf(context, row) : bodyOf(context, row));
if (text) box.append(h("div", { class: "text" }, renderText(text, row.body.entities, { me: state.account?.name, open: actions.openUser }), meta(context, row)));
else box.append(meta(context, row, media));
return box;
}

function author({ state, actions }, name) {
const shown = userName(state, name);
const mark = lookalikeMark(state, name);
return h("button", { type: "button", tabindex: "-1", class: "author ellipsis", style: { "--h": hueOf(name) }, onclick: () => actions.openUser(name) }, shown, mark && [mark, h("span", { class: "name-mark" }, t("nameMark", { name }))]);
}

function meta({ state, actions }, row, over = false) {
const status = row.own && row.status ? row.status : null;
return h("span", { class: `meta${over ? " over" : ""}`, title: row.at ? fullDate(row.at) : null },
row.expires_at ? remaining(row.expires_at, state.now) : null,
row.state === "edited" ? h("button", { type: "button", class: "edited", tabindex: "-1", title: t("editHistory"), onclick: () => actions.showEdits(row) }, t("edited")) : null,
h("time", { datetime: row.at ? new Date(row.at).toISOString() : null }, clock(row.at ?? Date.now())),
status ? ticks(status, t(STATUS[status] ?? "statusSent")) : null);
}

function remaining(at, now) {
return h("span", { class: "expires", "data-at": at, title: t("disappearsAt", { time: fullDate(at) }) }, icon("timer"), h("span", {}, timeLeft(at - now)));
}

function updateRemaining(element, now) {
for (const each of element.querySelectorAll(".expires")) {
const text = timeLeft(Number(each.dataset.at) - now);
if (each.lastChild.textContent !== text) each.lastChild.textContent = text;
}
}

function quote({ state, actions }, row) {
const source = row.quote;
const open = () => actions.jump(row.ref);
if (!source) return h("button", { type: "button", class: "quote", onclick: open }, h("span", { class: "ellipsis muted" }, t("hidden")));
return h("button", { type: "button", class: "quote", style: { "--h": hueOf(source.sender ?? "") }, onclick: open },
h("strong", { class: "ellipsis" }, actorName(state, source.sender)),
h("span", { class: "ellipsis" }, eventText(state, source).replace(/\s+/g, " ").slice(0, 120)));
}

function linkPreview({ url, site, title, text }) {
const content = [site ? h("span", { class: "site" }, site) : null, title ? h("strong", {}, title) : null, text ? h("span", { class: "about" }, text.slice(0, 400)) : null];
return /^https?:\/\//i.test(url) ? h("a", { class: "preview-card", href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, content) : h("span", { class: "preview-card" }, content);
}

function reactions({ actions }, row) {
if (!row.reactions?.length || row.state === "recalled") return null;
const mine = new Set(row.mine?.reactions ?? []);
return h("div", { class: "reactions", role: "group", "aria-label": t("reactions") }, row.reactions.map(({ key, count }) =>
h("button", { type: "button", class: "reaction", "data-focus": `react-${key}`, "aria-pressed": String(mine.has(key)), "aria-label": t("reactionLabel", { emoji: key, n: count }), onclick: () => actions.react(row, key, mine.has(key)), oncontextmenu: (event) => { event.preventDefault(); event.stopPropagation(); actions.showReactions(row); } },
h("span", { class: "face" }, key), String(count))));
}

function thread({ actions, inThread }, row) {
if (inThread) return null;
if (row.thread) return h("button", { type: "button", class: "thread-link", onclick: () => actions.openThread(row) }, icon("thread"), t("inThread"));
if (!row.replies?.count) return null;
return h("button", { type: "button", class: "thread-link", onclick: () => actions.openThread(row) }, icon("thread"), t("replies", { n: row.replies.count }));
}

function failure({ state, actions }, row) {
if (row.status !== "failed") return null;
const { error } = row;
const reason = error && (error.code === "not_found" && error.field === "blob" ? t("errorFileLost", { name: row.body?.name ?? eventText(state, row) }) : actions.reason(error));
return h("div", { class: "failure" }, h("span", {}, error ? t("failedReason", { reason }) : t("statusFailed")),
h("button", { type: "button", class: "link", onclick: () => actions.retry(row) }, t("retry")),
h("button", { type: "button", class: "link", onclick: () => actions.discard(row) }, t("discard")));
}
return { spoken, renderRow, updateRemaining };
})();
const $views_requestbar = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { isAdmin, isGroup } = $views_model;
const { t } = $i18n_index;

class RequestBar {
#key = null;

constructor(view) {
this.view = view;
this.element = h("button", { type: "button", class: "request-bar", hidden: true, onclick: () => this.#open() });
const { state } = view;
const again = () => { this.#key = null; this.update(); };
const ends = [state.subscribe("joinRequests", again), state.subscribe("connection", () => { if (state.connection?.state === "online") again(); })];
this.end = () => { for (const end of ends) end(); };
}

close() {
this.closed = true;
this.end();
}

async update() {
const { head, thread, state } = this.view;
const isShown = thread === null && isGroup(head) && isAdmin(head) && (!head.state || head.state === "joined");
const key = `${isShown} ${head.settings?.join === "approval" ? head.members_version : ""}`;
if (key === this.#key) return;
this.#key = key;
const answer = isShown ? await state.verb("members", { conv: head.conv, state: "requested" }).catch(() => null) : { members: [] };
if (!answer || this.closed || this.#key !== key) return;
const { length: n } = answer.members;
this.element.hidden = n === 0;
replace(this.element, icon("personAdd"), t("joinRequestCount", { n }));
}

async #open() {
const { app } = this.view;
await app.toggleDetails(true);
app.details?.members?.showRequests();
}
}
return { RequestBar };
})();
const $views_rowshape = (() => {

const { isNote } = $views_model;
const { dayOf } = $i18n_format;

const TOGETHER = 5 * 60_000;

const timeOf = (row) => row.at ?? Date.now();

function rowShape(rows, index, firstUnread) {
const [before, row, after] = [rows[index - 1], rows[index], rows[index + 1]];
const day = !before || dayOf(timeOf(before)) !== dayOf(timeOf(row));
const unread = firstUnread !== null && row.seq >= firstUnread && !(before?.seq >= firstUnread);
return {
day, unread,
first: day || unread || !joins(before, row),
last: !after || !joins(row, after) || dayOf(timeOf(after)) !== dayOf(timeOf(row)),
};
}

function joins(one, other) {
return Boolean(one) && one.sender === other.sender && !isNote(one) && !isNote(other) && timeOf(other) - timeOf(one) < TOGETHER;
}
return { rowShape };
})();
const $views_threadactions = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { addressOf } = $views_address;
const { emojiPicker } = $views_emojipicker;
const { partsOf, pictureRows } = $views_albums;
const { withPanels } = $views_later;
const { closeMenu, openMenu } = $views_menu;
const { confirm } = $views_dialog;
const { attempt, toast } = $views_toast;
const { canWrite, errorText, eventText, gone, headTitle, isAdmin, isGroup, permits, showsVoters } = $views_model;
const { chooseConversation } = $views_pickers;
const { canCall } = $calls_center;
const { showsReceipts } = $core_receipts;
const { QUICK_REACTIONS } = $text_emoji;
const { t } = $i18n_index;

const EDITABLE = new Set(["text", "image", "video", "audio", "file"]);

const QUESTIONS = { pair: "recallQuestionPair", self: "recallQuestionSelf" };

const anchorOf = (anchor) => {
if (!(anchor instanceof Element)) return anchor;
const { left, bottom } = anchor.getBoundingClientRect();
return { x: left, y: bottom };
};

class ThreadActions {
constructor(view) {
this.view = view;
this.state = view.state;
this.id = view.id;
this.openUser = (name) => view.app.openProfile(name);
this.openPicture = (row) => withPanels(({ openViewer }) => openViewer(this.state, row, { rows: pictureRows(this.state, view.rows) }));
this.nextVoice = (row) => view.rows.slice(view.rows.findIndex((each) => each.key === row.key) + 1).find((each) => each.kind === "audio" && each.body?.voice && !gone(this.state, each)) ?? null;
this.openThread = (row) => view.app.openConversation(this.id, row.thread ? { thread: row.thread, seq: row.seq } : { thread: row.seq });
this.jump = (seq) => view.jumpTo(seq);
this.reason = (error) => errorText(error);
}

get call() {
const { app, head, id, isBlocked } = this.view;
const { calls } = app.owner ?? {};
return calls && head && canCall(head) && !isBlocked ? (media) => calls.start(id, media === "video" ? "video" : "audio") : null;
}

menu(row, anchor) {
const { view, state } = this;
const { head } = view;
const alive = !gone(state, row);
const stored = Boolean(row.seq);
const mine = new Set(row.mine?.reactions ?? []);
const pinned = head.pins?.includes(row.seq);
const limits = state.session.limits ?? {};
const age = (state.now - (row.at ?? state.now)) / 1000;
const text = alive ? row.body?.text : null;
const writes = canWrite(head, state.now) && !view.isBlocked;
const failed = row.status === "failed";
openMenu(anchor, [
failed && { icon: "undo", label: t("retry"), run: () => this.retry(row) },
failed && { icon: "trash", label: t("discard"), danger: true, run: () => this.discard(row) },
stored && alive && writes && { icon: "reply", label: t("reply"), run: () => this.reply(row) },
stored && alive && writes && isGroup(head) && view.thread === null && { icon: "thread", label: t("replyInThread"), run: () => this.openThread(row) },
stored && row.own && alive && EDITABLE.has(row.kind) && age < (limits.edit_seconds ?? 172_800) && { icon: "edit", label: t("edit"), run: () => this.edit(row) },
stored && row.own && alive && row.body?.preview && age < (limits.edit_seconds ?? 172_800) && { icon: "close", label: t("removePreview"), run: () => attempt(state.removePreview(this.id, row.seq)) },
stored && alive && head.state !== "left" && { icon: "smile", label: t("react"), run: () => emojiPicker(anchorOf(anchor), (face) => { closeMenu(); this.react(row, face, false); }) },
stored && alive && row.kind === "poll" && !row.body?.closed && (row.body?.closes_at ?? Infinity) > state.now && row.own && { icon: "check", label: t("pollClose"), run: () => attempt(state.closePoll(this.id, row.seq)) },
stored && alive && row.state === "edited" && { icon: "clock", label: t("editHistory"), run: () => this.showEdits(row) },
stored && alive && row.reactions?.length > 0 && { icon: "smile", label: t("whoReacted"), run: () => this.showReactions(row) },
stored && alive && showsVoters(row, state.now) && { icon: "poll", label: t("whoVoted"), run: () => this.showVotes(row) },
text && { icon: "copy", label: t("copyText"), run: () => this.copy(text) },
stored && { icon: "link", label: t("copyLink"), run: () => this.copy(new URL(addressOf(this.id, row.seq, view.thread), location.href).href) },
stored && alive && row.kind !== "call" && { icon: "forward", label: t("forward"), run: () => this.forward([row]) },
stored && alive && permits(head, "pin", "admins") && { icon: "pin", label: t(pinned ? "unpin" : "pin"), run: () => attempt(state.pin(this.id, row.seq, pinned)) },
stored && row.own && isGroup(head) && showsReceipts(head) && { icon: "eye", label: t("readBy"), run: () => withPanels(({ showReaders }) => showReaders(view.app, this.id, row.seq)) },
stored && { icon: "select", label: t("select"), run: () => this.toggle(row) },
null,
stored && { icon: "trash", label: t("hide"), danger: true, run: () => this.hide([row]) },
stored && alive && (isAdmin(head) || (row.own && age < (limits.recall_seconds ?? 172_800))) && { icon: "undo", label: t("recall"), danger: true, run: () => this.recall(row) },
stored && !row.own && { icon: "warning", label: t("report"), danger: true, run: () => view.app.report({ conv: this.id, seqs: [row.seq], user: row.sender }) },
], {
label: t("messageActions"),
quick: stored && alive && view.head.state !== "left" ? {
items: QUICK_REACTIONS.map((face) => ({ face, checked: mine.has(face), label: t("reactWith", { emoji: face }) })),
run: (face) => this.react(row, face, mine.has(face)),
} : null,
});
}

reply(row) {
this.view.composer?.reply(row);
}

edit(row) {
this.view.composer?.edit(row);
}

react(row, key, remove) {
return attempt(this.state.react(this.id, row.seq, key, remove));
}

showEdits(row) {
return withPanels(({ showEdits }) => showEdits(this.view.app, this.id, row.seq));
}

showReactions(row) {
return withPanels(({ showReactions }) => showReactions(this.view.app, this.id, row));
}

showVotes(row) {
return withPanels(({ showVotes }) => showVotes(this.view.app, this.id, row));
}

vote(row, options) {
return attempt(this.state.vote(this.id, row.seq, options));
}

retry(row) {
return attempt(this.state.retry(row.key));
}

discard(row) {
return attempt(this.state.discard(row.key));
}

async copy(text) {
try {
await navigator.clipboard.writeText(text);
} catch {
const area = h("textarea", { class: "visually-hidden", value: text });
document.body.append(area);
area.select();
document.execCommand("copy");
area.remove();
}
toast(t("copied"), { seconds: 2 });
}

async recall(row) {
if (!(await confirm(t(QUESTIONS[this.view.head.kind] ?? "recallQuestion"), { yes: t("recall"), dangerous: true, detail: eventText(this.state, row).slice(0, 160) }))) return;
for (const part of partsOf(row)) await attempt(this.state.recall(this.id, part.seq));
}

async hide(chosen) {
const rows = chosen.flatMap(partsOf);
const local = rows.filter((row) => !row.seq);
for (const row of local) await this.discard(row);
const seqs = rows.filter((row) => row.seq).map((row) => row.seq);
if (!seqs.length || !(await confirm(t("hideQuestion", { n: seqs.length }), { yes: t("delete"), dangerous: true }))) return;
await attempt(this.state.hide(this.id, seqs));
this.clearSelection();
}

async forward(rows) {
const chosen = rows.flatMap(partsOf).filter((row) => row.seq && !gone(this.state, row) && row.kind !== "call");
if (chosen.length === 0) return;
const switches = { ...(chosen.length > 1 && { bundle: t("forwardMerged") }), anonymous: t("forwardAnonymous"), silent: t("sendSilently") };
const target = await chooseConversation(this.view.app, t("forwardTo"), { switches });
if (!target) return;
const seqs = chosen.map((row) => row.seq).sort((one, other) => one - other);
const title = target.bundle ? headTitle(this.state, this.view.head).slice(0, 100) : undefined;
const { bundle, anonymous, silent } = target;
const sent = await attempt(this.state.forward(target.conv, this.id, seqs, { bundle: bundle || undefined, title, anonymous: anonymous || undefined, silent: silent || undefined }));
if (sent === undefined) return;
this.clearSelection();
this.view.app.openConversation(target.conv);
}


toggle(row) {
const { selected } = this.view;
if (selected.has(row.key)) selected.delete(row.key);
else if (row.seq) selected.set(row.key, row);
this.view.updateSelection();
}

clearSelection() {
if (!this.view.selected.size) return;
this.view.selected.clear();
this.view.updateSelection();
}

selectionBar() {
const rows = [...this.view.selected.values()].sort((one, other) => one.seq - other.seq);
const texts = rows.filter((row) => row.body?.text && !gone(this.state, row)).map((row) => row.body.text);
const button = (name, label, run, danger = false) => h("button", { type: "button", class: `icon-button${danger ? " danger" : ""}`, "aria-label": label, title: label, onclick: run }, icon(name));
return h("div", { class: "selection-bar", role: "toolbar", "aria-label": t("messageActions") },
button("close", t("cancel"), () => this.clearSelection()),
h("strong", { class: "grow" }, t("selectedCount", { n: rows.length })),
texts.length ? button("copy", t("copyText"), () => this.copy(texts.join("\n"))) : null,
button("forward", t("forward"), () => this.forward(rows)),
button("trash", t("hide"), () => this.hide(rows), true));
}
}
return { ThreadActions };
})();
const $views_threadinput = (() => {

const { partsOf } = $views_albums;
const { isNote } = $views_model;

const LONG_PRESS = 520;

function listenToLog(view) {
const { scroller } = view;
scroller.addEventListener("keydown", (event) => typed(view, event));
scroller.addEventListener("contextmenu", (event) => contextMenu(view, event));
scroller.addEventListener("click", (event) => clicked(view, event), { capture: true });
scroller.addEventListener("dblclick", (event) => {
const row = view.rowOf(event.target);
if (row?.seq && !isNote(row) && !event.target.closest("a, button, input")) view.actions.reply(row);
});
longPress(view);
}

function clicked(view, event) {
if (!view.selected.size) return;
const row = view.rowOf(event.target);
if (!row || isNote(row)) return;
event.preventDefault();
event.stopPropagation();
view.actions.toggle(view.rows.find((each) => partsOf(each).includes(row)) ?? row);
}

function contextMenu(view, event) {
const row = view.rowOf(event.target);
if (!row || isNote(row) || event.target.closest("a[href^=http]") || String(getSelection()) !== "") return;
event.preventDefault();
view.actions.menu(row, { x: event.clientX, y: event.clientY });
}

function longPress(view) {
let timer = 0;
const stop = () => clearTimeout(timer);
view.scroller.addEventListener("touchstart", (event) => {
stop();
const row = event.touches.length === 1 ? view.rowOf(event.target) : null;
if (!row || isNote(row) || view.selected.size) return;
const { clientX: x, clientY: y } = event.touches[0];
timer = setTimeout(() => {
navigator.vibrate?.(10);
view.actions.menu(row, { x, y });
}, LONG_PRESS);
}, { passive: true });
for (const type of ["touchmove", "touchend", "touchcancel", "contextmenu"]) view.scroller.addEventListener(type, stop, { passive: true });
}

function typed(view, event) {
const { rows, actions } = view;
const item = event.target.closest(".item");
const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 }[event.key];
const index = rows.findIndex((row) => row.key === (item?.dataset.key ?? view.focusKey));
const row = rows[index];
if (step) view.focusRow(Math.max(0, Math.min(rows.length - 1, index + step)));
else if (event.key === "Home") view.focusRow(0);
else if (event.key === "End") view.focusRow(rows.length - 1);
else if (!item || event.target !== item || !row || isNote(row)) return;
else if (event.key === "Enter" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) actions.menu(row, item.querySelector(".bubble") ?? item);
else if (event.key === " ") actions.toggle(row);
else if (event.key === "r" && !event.ctrlKey && !event.metaKey) actions.reply(row);
else if (event.key === "Delete") actions.hide([row]);
else return;
event.preventDefault();
}
return { listenToLog };
})();
const $views_thread = (() => {

const { announce, h, perFrame, replace, Scope } = $views_dom;
const { icon } = $views_icons;
const { Albums, partsOf } = $views_albums;
const { CallBar } = $views_callbar;
const { Composer } = $views_composer;
const { ContactBar } = $views_contactbar;
const { canWrite, eventText, isForGood, isGroup, isSilenced, isSilent, permits, userName } = $views_model;
const { renderRow, updateRemaining } = $views_message;
const { RequestBar } = $views_requestbar;
const { rowShape } = $views_rowshape;
const { ThreadActions } = $views_threadactions;
const { ThreadHeader } = $views_threadheader;
const { listenToLog } = $views_threadinput;
const { VirtualList } = $views_virtual;
const { attempt, toast } = $views_toast;
const { withPanels } = $views_later;
const { player } = $media_player;
const { number, shortDate } = $i18n_format;
const { t } = $i18n_index;

class ThreadView {
#scope = new Scope();
#window;
#albums = new Albums();
#rows = [];
#focusKey = null;
#hit = null;
#unmark = 0;
#marked = 0;
#spokenUpTo = 0;
#loading = false;
#ticked = 0;
#wasSilenced = false;
#check = perFrame(() => this.#scrolled());

constructor(app, id, { seq = null, thread = null } = {}) {
this.app = app;
this.state = app.state;
this.id = id;
this.thread = thread;
this.selected = new Map();
this.hover = matchMedia("(hover: hover)").matches;
this.head = this.state.conversation(id);
this.#window = this.state.thread(id, thread === null ? {} : { thread });
this.firstUnread = null;
this.#spokenUpTo = this.head?.seq ?? 0;
this.actions = new ThreadActions(this);
this.#build();
this.#scope.add(this.state.subscribe(`thread:${id}`, () => this.update()));
this.#scope.add(this.state.subscribe(`conversation:${id}`, () => this.updateHead()));
this.#scope.add(this.state.subscribe(`typing:${id}`, () => this.header.updatePresence()));
this.#scope.add(this.state.subscribe("contacts", () => this.updateHead()));
this.#scope.add(this.state.subscribe("connection", () => this.header.updatePresence()));
this.#scope.add(this.state.subscribe("presence", () => this.header.updatePresence()));
this.#scope.listen(document, "visibilitychange", () => this.#mark());
this.#scope.listen(window, "focus", () => this.#mark());
const clock = setInterval(() => this.#tick(), 1000);
this.#scope.add(() => clearInterval(clock));
this.updateHead();
this.#begin(seq);
}

async #begin(seq) {
const shown = new Promise((resolve) => { requestAnimationFrame(resolve); });
if (this.#window.ready) await attempt(this.#window.ready);
await shown;
this.firstUnread = this.#window.firstUnread ?? null;
this.#open(seq);
}

close() {
this.closed = true;
player.stop();
this.composer?.close();
this.callBar.close();
this.contactBar.close();
this.requestBar.close();
this.list.close();
this.#scope.close();
this.#window.close?.();
this.element.remove();
}

#build() {
this.header = new ThreadHeader(this);
this.callBar = new CallBar(this);
this.contactBar = new ContactBar(this);
this.requestBar = new RequestBar(this);
this.scroller = h("div", { class: "scroller log", role: "region", "aria-label": t("messageList"), tabindex: "-1" });
this.content = this.scroller.appendChild(h("div", {}));
this.count = h("span", { class: "badge", hidden: true });
this.jump = h("button", { type: "button", class: "jump", "aria-label": t("jumpToNewest"), hidden: true, onclick: () => this.toNewest() }, icon("down"), this.count);
this.foot = h("div", {});
this.box = h("div", { class: "log-box" }, this.scroller, this.jump);
this.element = h("main", { class: "pane thread-pane" }, this.header.element, this.header.banner, this.header.pinned, this.callBar.element, this.contactBar.element, this.requestBar.element, this.box, this.foot);
this.list = new VirtualList(this.scroller, this.content, {
key: (row) => row.key, estimate: 58, stick: () => !this.#window.hasNewer,
signature: (row, index) => this.#signature(row, index),
render: (row, index) => this.#render(row, index),
onscroll: () => this.#scrolled(),
onplace: () => requestAnimationFrame(() => this.#placed()),
});
this.#scope.add(this.state.subscribe("users", () => this.list.layout()));
listenToLog(this);
}

#open(seq) {
if (this.closed) return;
this.ready = true;
this.update(this.firstUnread ?? Infinity);
if (seq !== null) this.actions.jump(seq);
}


get hasWritten() { return this.#rows.some(({ own, n }) => own && n !== undefined); }

update(seq) {
if (this.closed || !this.ready) return;
const former = this.#rows.at(-1)?.key;
this.#rows = this.#albums.merge(this.state, this.#window.rows.filter((row) => !isSilent(row)));
const last = this.#rows.at(-1);
const isAtEnd = this.#focusKey === former && !this.scroller.contains(document.activeElement);
if (isAtEnd || !this.#rows.some((row) => row.key === this.#focusKey)) this.#focusKey = last?.key ?? null;
this.#showAlone();
this.emptyHint ??= h("p", {}, t(this.head.kind === "self" ? "noNotesHint" : "noMessagesHint"));
this.emptyHint.hidden = !canWrite(this.head, this.state.now);
this.empty ??= h("div", { class: "empty" }, h("h2", {}, t("noMessages")), this.emptyHint);
const isOutside = this.head.state === "invited" || this.head.state === "requested";
if (this.#rows.length || this.#window.loading || isOutside) this.empty.remove();
else this.scroller.prepend(this.empty);
this.#speak();
this.header.updatePins();
this.contactBar.update();
const index = seq === undefined ? -1 : this.#rows.findIndex((row) => row.seq >= seq);
this.list.setRows(this.#rows, seq === undefined ? {} : index >= 0 ? { index, place: "start" } : { place: "end" });
this.#scrolled();
}

#showAlone() {
const { head } = this;
const isAlone = isGroup(head) && (head.members ?? 1) <= 1 && !head.n && this.thread === null && (!head.state || head.state === "joined") && permits(head, "invite") && !isSilenced(head, this.state.now);
if (!isAlone) return this.alone?.remove();
this.alone ??= h("div", { class: "empty alone" }, h("p", {}, t(head.kind === "channel" ? "aloneInChannel" : "aloneInGroup")),
h("button", { type: "button", class: "button primary", onclick: () => withPanels(({ addMembers }) => addMembers(this.app, this.id)) }, icon("personAdd"), t("addMembers")));
if (!this.alone.isConnected) this.scroller.append(this.alone);
}

#signature(row, index) {
const shape = this.#shape(row, index);
const users = Array.isArray(row.body?.users) ? row.body.users : [];
const names = [row.sender, row.quote?.sender, ...users].map((name) => (name ? userName(this.state, name) : "")).join();
return `${shape.day}${shape.unread}${shape.first}${shape.last}${shape.selected}${shape.hit}${shape.focusable}${row.body?.closes_at <= this.state.now}${names}`;
}

#shape(row, index) {
return {
...rowShape(this.#rows, index, this.firstUnread),
selected: this.selected.has(row.key),
hit: this.#hit === row.key,
focusable: this.#focusKey === row.key,
};
}

#render(row, index) {
return renderRow({ state: this.state, head: this.head, actions: this.actions, inThread: this.thread !== null, hover: this.hover }, row, this.#shape(row, index));
}

#tick() {
updateRemaining(this.scroller, this.state.now);
if (this.#rows.some(({ body }) => body?.closes_at > this.#ticked && body.closes_at <= this.state.now)) this.list.layout();
this.#ticked = this.state.now;
if (this.#wasSilenced && !isSilenced(this.head, this.state.now)) this.updateHead();
}

async jumpTo(seq) {
const isAt = (row) => partsOf(row).some((part) => part.seq === seq);
let index = this.#rows.findIndex(isAt);
if (index < 0) {
const found = await attempt(this.#window.jump(seq));
if (found === undefined || this.closed) return false;
if (found === false && this.#window.event(seq) === undefined) toast(t("hidden"));
this.update();
index = this.#rows.findIndex((row) => isAt(row) || row.seq >= seq);
}
if (index < 0) return false;
this.#hit = this.#rows[index].key;
this.#focusKey = this.#hit;
const element = this.list.toIndex(index, "center");
this.list.layout();
(this.list.element(this.#hit) ?? element)?.focus({ preventScroll: true });
clearTimeout(this.#unmark);
this.#unmark = setTimeout(() => { this.#hit = null; }, 1800);
return true;
}

sent() {
this.firstUnread = null;
return this.toNewest();
}

async toNewest() {
const unread = this.firstUnread;
const index = unread === null ? -1 : this.#rows.findIndex((row) => row.seq >= unread);
if (index > this.list.lastVisible()) {
this.list.toIndex(index, "start");
return;
}
if (this.#window.hasNewer) await attempt(this.#window.jumpToEnd());
this.update();
this.list.toEnd();
this.composer?.focus();
}

#scrolled() {
if (!this.ready || this.closed) return;
const { scrollTop, scrollHeight, clientHeight } = this.scroller;
const visible = this.list.lastVisible();
this.#showJump(this.list.isAtEnd() && !this.#window.hasNewer);
if (scrollTop < 1200 && this.#window.hasOlder) this.#load("loadOlder");
else if (scrollHeight - scrollTop - clientHeight < 1200 && this.#window.hasNewer) this.#load("loadNewer");
this.#mark(visible);
}

#showJump(isAtEnd) {
const unread = this.state.conversation(this.id)?.unread ?? 0;
const shown = `${isAtEnd} ${unread}`;
if (shown === this.shownJump) return;
this.shownJump = shown;
this.jump.hidden = isAtEnd;
this.count.hidden = unread === 0;
this.count.textContent = number(unread);
this.jump.setAttribute("aria-label", unread ? `${t("jumpToNewest")}, ${t("unreadCount", { n: unread })}` : t("jumpToNewest"));
}

#placed() {
if (this.ready && !this.closed) this.#mark();
}

async #load(direction) {
if (this.#loading) return;
this.#loading = true;
try {
await this.#window[direction]();
} catch (error) {
console.warn(error);
} finally {
this.#loading = false;
}
if (!this.closed) this.update();
}

#mark(visible = this.list.lastVisible()) {
if (!this.ready || this.closed || this.thread !== null || document.visibilityState !== "visible" || !document.hasFocus() || !this.#rows.length) return;
for (let index = visible; index >= 0; index -= 1) {
const { n } = this.#rows[index];
if (!n) continue;
if (n > this.#marked && n > (this.head?.read ?? 0)) {
this.#marked = n;
this.state.mark(this.id, n).catch(() => { this.#marked = 0; });
}
return;
}
}

#speak() {
const newest = this.#rows.at(-1);
if (!newest?.seq || newest.seq <= this.#spokenUpTo) return;
this.#spokenUpTo = newest.seq;
if (!newest.own && this.ready) announce(t("spokenNew", { name: userName(this.state, newest.sender), text: eventText(this.state, newest) }));
}


updateHead() {
const head = this.state.conversation(this.id);
if (!head || this.closed) return;
this.head = head;
this.header.update();
this.callBar.update();
this.contactBar.update();
this.requestBar.update();
if (this.ready) this.#showAlone();
this.#updateFoot();
this.#check();
}

get isBlocked() {
return this.head.kind === "pair" && this.state.contact(this.head.peer?.name)?.state === "blocked";
}

#updateFoot() {
const { head } = this;
if (this.selected.size) return;
this.#wasSilenced = isSilenced(head, this.state.now);
if (canWrite(head, this.state.now) && !this.isBlocked) {
if (!this.composer) {
this.composer = new Composer(this);
replace(this.foot, this.composer.element);
}
this.composer.updateHead(head);
return;
}
this.composer?.close();
this.composer = null;
replace(this.foot, footNote(this, head));
}

updateSelection() {
this.element.classList.toggle("selecting", this.selected.size > 0);
this.list.layout();
if (!this.selected.size) {
if (this.composer) replace(this.foot, this.composer.element);
else this.#updateFoot();
return;
}
replace(this.foot, this.actions.selectionBar());
}

get rows() { return this.#rows; }
get focusKey() { return this.#focusKey; }

rowOf(target) {
const key = target.closest?.(".item")?.dataset.key;
const row = key === undefined ? null : this.#rows.find((each) => each.key === key) ?? null;
const part = target.closest("[data-part]")?.dataset.part;
return row?.parts?.find((each) => each.key === part) ?? row;
}

focusRow(index) {
const row = this.#rows[index];
if (!row) return;
this.#focusKey = row.key;
this.list.toIndex(index, "nearest");
this.list.layout();
this.list.element(row.key)?.focus({ preventScroll: true });
}

focusLog() {
this.focusRow(this.#rows.length - 1);
}

lastOwn() {
return this.#rows.findLast((row) => row.own && row.kind === "text" && row.seq && !row.state?.match(/recalled|expired|erased/)) ?? null;
}
}

function whyNot(head, now) {
if (head.state && head.state !== "joined") return t("leftGroup");
if (!isSilenced(head, now)) return t(head.role === "reader" ? "onlyReads" : "cannotWrite");
return isForGood(head.silenced_until, now) ? t("silenced") : t("silencedUntil", { time: shortDate(head.silenced_until) });
}

function footNote({ state, app }, head) {
const answer = (accept) => attempt(state.answerInvitation(head.conv, accept));
if (head.state === "invited") {
return h("div", { class: "composer-note" }, h("span", {}, t("invited", { name: userName(state, head.peer?.name) })),
h("button", { type: "button", class: "button quiet", onclick: () => answer(false).then(() => app.closeThread()) }, t("decline")),
h("button", { type: "button", class: "button primary", onclick: () => answer(true) }, t("join")));
}
if (head.state === "requested") {
return h("div", { class: "composer-note" }, h("span", {}, t("requested")),
h("button", { type: "button", class: "button quiet", onclick: () => attempt(state.leave(head.conv)).then(() => app.closeThread()) }, t("takeBackRequest")));
}
if (head.kind === "pair" && (!head.state || head.state === "joined")) {
return h("div", { class: "composer-note" }, h("span", {}, t("youBlocked", { name: userName(state, head.peer.name) })),
h("button", { type: "button", class: "button", onclick: () => attempt(state.unblock(head.peer.name)) }, t("unblock")));
}
return h("div", { class: "composer-note" }, whyNot(head, state.now));
}
return { ThreadView };
})();
const $views_shell = (() => {

const { announce, h, Scope } = $views_dom;
const { icon, logo } = $views_icons;
const { addressOf, readAddress } = $views_address;
const { confirm, openDialog } = $views_dialog;
const { preparePanels, withPanels } = $views_later;
const { copyText, saveText } = $views_clipboard;
const { openSearch } = $views_search;
const { Sidebar } = $views_sidebar;
const { ThreadView } = $views_thread;
const { attempt, clearToasts, toast } = $views_toast;
const { closeMenu } = $views_menu;
const { headTitle, isGroup, userName } = $views_model;
const { t } = $i18n_index;

class Shell {
#scope = new Scope();
#isWaiting = false;
#unknown = null;
#showsDetails = false;
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
announce("");
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

#focusFirst() {
if (!this.#isWaiting) return;
this.#isWaiting = false;
if (!this.thread && document.activeElement === document.body) this.focusList();
}

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
if (head && isGroup(head) && head.role !== "owner") toast(t("notMember", { title: headTitle(this.state, head) }));
this.closeThread();
}


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


#panel(open) { return withPanels((panels) => (this.#isClosed ? undefined : open(panels))); }
newChat() { return this.#panel(({ newChat }) => newChat(this)); }
newGroup(kind) { return this.#panel(({ newGroup }) => newGroup(this, kind)); }
contacts() { return this.#panel(({ showContacts }) => showContacts(this)); }
explore() { return this.#panel(({ openDirectory }) => openDirectory(this)); }
settings(page) { return this.#panel(({ openSettings }) => openSettings(this, page)); }
search(options = {}) { openSearch(this, options); }
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
else if (notice.kind === "contact.request" && this.thread?.head?.peer?.name === notice.user) return;
else if (notice.kind === "contact.request") this.#tell("newRequest", notice.user, { seconds: 10, action: { label: t("show"), run: () => this.openProfile(notice.user) } });
else if (notice.kind === "contact.accept") this.#tell("nowContact", notice.user);
else if (notice.text) toast(notice.text);
}

async #tell(key, name, options) {
await this.state.refresh(name);
toast(t(key, { name: userName(this.state, name) }), options);
}


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
return { Shell };
})();
const $views_sound = (() => {

const NOTES = [[880, 0], [1174.7, 0.09]];
const LENGTH = 0.28;
const LOUDNESS = 0.12;
const PAUSE = 1500;

let context = null;
let playedAt = -Infinity;

function prepareSound() {
const begin = () => {
try {
context ??= new AudioContext();
context.resume();
} catch (error) {
console.warn("No sound:", error);
}
};
for (const type of ["pointerdown", "keydown"]) addEventListener(type, begin, { once: true, capture: true });
}

function playSound(now = performance.now()) {
if (!context || context.state !== "running" || now - playedAt < PAUSE) return false;
playedAt = now;
for (const [frequency, delay] of NOTES) {
const begin = context.currentTime + delay;
const tone = new OscillatorNode(context, { type: "sine", frequency });
const volume = new GainNode(context, { gain: 0 });
volume.gain.setValueAtTime(0, begin);
volume.gain.linearRampToValueAtTime(LOUDNESS, begin + 0.012);
volume.gain.exponentialRampToValueAtTime(0.0001, begin + LENGTH);
tone.connect(volume).connect(context.destination);
tone.start(begin);
tone.stop(begin + LENGTH);
}
return true;
}
return { prepareSound, playSound };
})();
const $state_push = (() => {

const pushKey = (store) => store.session.push_key ?? store.session.server?.push_key;

function canPush(store) {
return Boolean(globalThis.isSecureContext && navigator.serviceWorker && globalThis.PushManager && pushKey(store));
}

async function subscribePush(store) {
const { pushManager } = await navigator.serviceWorker.ready;
const key = bytesOf(pushKey(store));
let subscription = await pushManager.getSubscription();
if (subscription && !isSame(subscription.options?.applicationServerKey, key)) {
await subscription.unsubscribe();
subscription = null;
}
subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
const { endpoint, keys } = subscription.toJSON();
await store.setPush("web", { endpoint, keys });
}

async function unsubscribePush(store) {
await store.setPush("none");
const subscription = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
await subscription?.unsubscribe();
}

function keepPush(store, isWanted) {
let told = null;
const check = () => {
const user = store.connection.state === "online" && canPush(store) && isWanted() && Notification.permission === "granted" ? store.account?.name : null;
if (!user || told === user) return;
told = user;
subscribePush(store).catch((error) => { console.warn("push:", error); });
};
store.subscribe("connection", check);
store.subscribe("session", () => { if (store.session.phase !== "signedIn") told = null; check(); });
}

function bytesOf(key) {
return Uint8Array.from(atob(key.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function isSame(buffer, key) {
const bytes = buffer && new Uint8Array(buffer);
return Boolean(bytes) && bytes.length === key.length && bytes.every((byte, index) => byte === key[index]);
}
return { pushKey, canPush, subscribePush, unsubscribePush, keepPush };
})();
const $views_inside = (() => {

const { CallsView } = $views_calls;
const { eventText, headTitle, isGroup, kindNames, userName } = $views_model;
const { Shell } = $views_shell;
const { prepareSound, playSound } = $views_sound;
const { forgetPlayed } = $media_played;
const { watchNotifications } = $state_notifications;
const { keepPush } = $state_push;
const { t } = $i18n_index;

class Inside {
#words = null;

constructor(app) {
this.app = app;
this.state = app.state;
watchNotifications(this.state);
this.#describeNotifications();
this.calls = new CallsView(app);
this.state.subscribe("contacts", () => this.tellWords());
this.state.subscribe("session", () => this.#forget());
this.#forget();
}

makeShell() {
this.tellWords();
return new Shell(this.app);
}

#forget() {
if (this.state.session.phase !== "signedOut") return;
this.#words = null;
forgetPlayed();
}

#describeNotifications() {
const { app, state } = this;
state.onsound = () => playSound();
prepareSound();
keepPush(state, () => app.preferences.push);
state.describe = (head, event) => {
const title = headTitle(state, head);
const text = app.preferences.preview ? eventText(state, event).slice(0, 200) : t("oneNewMessage");
return { title, body: isGroup(head) && app.preferences.preview ? `${userName(state, event.sender)}${t("colon")}${text}` : text };
};
}

tellWords() {
const { state, app: { preferences: { preview } } } = this;
if (state.session.phase !== "signedIn") return;
const texts = { message: t("oneNewMessage"), joinRequest: t("joinRequest"), joinRequests: t("joinRequestsPush", { n: "{n}" }), ...kindNames() };
const aliases = Object.fromEntries(state.contacts().filter((each) => each.alias).map((each) => [each.user.name, each.alias]));
const words = JSON.stringify({ texts, aliases, preview, colon: t("colon") });
if (words === this.#words) return;
this.#words = words;
state.tellWords?.(JSON.parse(words));
}
}
return { Inside };
})();
Object.assign($loaded, { $views_avatar, $views_toast, $views_callring, $views_later, $calls_machine, $calls_media, $calls_stats, $calls_peer, $calls_signals, $calls_call, $calls_center, $calls_tone, $state_notifications, $views_calls, $views_address, $views_dialog, $views_clipboard, $text_skeleton, $views_lookalike, $views_virtual, $views_rows, $views_pickers, $text_emoji, $text_markdown, $text_render, $views_search, $views_fields, $views_requests, $views_callbar, $views_threadheader, $views_sidebar, $views_albums, $views_emojipicker, $views_completion, $text_blurhash, $media_describe, $views_sendfiles, $views_scheduledline, $views_slowmode, $views_tray, $media_wave, $media_recorder, $views_voicebar, $views_composer, $views_contactbar, $views_pictures, $views_place, $media_played, $media_player, $views_voice, $views_attachments, $views_message, $views_requestbar, $views_rowshape, $views_threadactions, $views_threadinput, $views_thread, $views_shell, $views_sound, $state_push, $views_inside });
return $views_inside;
};

"""#))

    private static let _js_views_panels_19e814f33cc984d3_js = EmbeddedFile(path: "js/views-panels-19e814f33cc984d3.js", content: .text(#"""
export default ({ $views_dom, $views_icons, $i18n_index, $i18n_format, $views_model, $views_menu, $views_avatar, $views_toast, $views_later, $calls_media, $views_dialog, $views_clipboard, $views_lookalike, $views_rows, $views_pickers, $text_markdown, $text_render, $views_fields, $views_requests, $text_blurhash, $media_recorder, $views_pictures, $views_place, $media_player, $views_attachments, $views_sound, $state_push }) => {
const $views_addmembers = (() => {

const { h } = $views_dom;
const { openDialog } = $views_dialog;
const { PeopleList, personRow } = $views_pickers;
const { attempt, toast } = $views_toast;
const { userName } = $views_model;
const { list } = $i18n_format;
const { t } = $i18n_index;

function addMembers(app, conv) {
const { state } = app;
const picked = new Set();
const people = new PeopleList(app, {
choose: (user) => { if (!picked.delete(user.name)) picked.add(user.name); done.disabled = !picked.size; people.refresh(); },
render: (user) => personRow(state, user, { chosen: picked.has(user.name) }), signature: (user) => String(picked.has(user.name)),
exclude: (user) => user.name === state.account?.name,
});
const done = h("button", { type: "button", class: "button primary", disabled: true, onclick: async () => {
dialog.close();
const answer = await attempt(state.invite(conv, [...picked]));
if (answer) tellAdded(state, answer, [...picked]);
} }, t("addMembers"));
const dialog = openDialog(t("addMembers"), [h("div", { class: "pad" }, people.field.element), people.rows.element, h("div", { class: "dialog-foot" }, done)], { label: "tall", onclose: () => people.close() });
people.show();
}

function tellAdded(state, { added = [], invited = [] }, picked) {
const names = (users) => list(users.map((name) => userName(state, name)));
const others = picked.filter((name) => !added.includes(name) && !invited.includes(name));
if (invited.length) toast(t("wereInvited", { users: names(invited) }));
if (others.length) toast(t("wereNotAdded", { users: names(others) }), { role: "alert" });
}
return { addMembers };
})();
const $views_attachmenu = (() => {

const { openMenu } = $views_menu;
const { withPanels } = $views_later;
const { canRecord } = $media_recorder;
const { t } = $i18n_index;

function openAttachMenu(composer, { send, schedule }) {
const { attach, tray, view } = composer;
const hasText = composer.text.trim() !== "";
openMenu(attach, [
{ icon: "picture", label: t("attachPicture"), run: () => tray.pick("image/*,video/*") },
canRecord() && { icon: "video", label: t("attachCamera"), run: async () => { const film = await withPanels(({ recordVideo }) => recordVideo()); if (film) tray.add([film]); } },
{ icon: "file", label: t("attachFile"), run: () => tray.pick("", { asFiles: true }) },
{ icon: "poll", label: t("attachPoll"), run: () => send(withPanels(({ newPoll }) => newPoll())) },
{ icon: "person", label: t("attachContact"), run: () => send(withPanels(({ shareContact }) => shareContact(view.app))) },
{ icon: "pinPlace", label: t("attachLocation"), run: () => send(withPanels(({ shareLocation }) => shareLocation())) },
hasText || !tray.isEmpty ? null : false,
hasText && { icon: "calendar", label: t("schedule"), run: schedule },
(hasText || !tray.isEmpty) && { icon: "bellOff", label: t("sendSilently"), run: () => composer.submit({ silent: true }) },
], { label: t("attach") });
}
return { openAttachMenu };
})();
const $views_calltiles = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { userName } = $views_model;
const { chosenDevices } = $calls_media;
const { t } = $i18n_index;

const QUALITY = { 1: "callQualityPoor", 2: "callQualityFair", 3: "callQualityGood" };

function show(video, stream) {
if (video.srcObject === stream) return;
video.srcObject = stream;
video.play?.().catch(() => {});
}

class PeerTile {
constructor(state, peer) {
this.state = state;
this.peer = peer;
this.video = h("video", { autoplay: true, playsinline: true });
this.face = h("div", { class: "tile-face" }, userAvatar(state, state.user(peer.user), { size: "xl", online: false }));
this.note = h("div", { class: "tile-note", role: "status" });
this.muted = h("span", { class: "tile-muted", role: "img", "aria-label": t("callMutedOther") }, icon("voiceOff"));
this.quality = h("span", { class: "bars", role: "img" }, h("i"), h("i"), h("i"));
this.name = h("span", { class: "ellipsis" });
this.element = h("div", { class: "tile", role: "group", "data-user": peer.user }, this.video, this.face, this.note, h("div", { class: "tile-name" }, this.muted, this.name, this.quality));
}

update() {
const { peer, state } = this;
const name = userName(state, peer.user);
this.name.textContent = name;
this.element.setAttribute("aria-label", name);
show(this.video, peer.stream);
const { audiooutput } = chosenDevices();
if (audiooutput !== undefined && this.video.setSinkId && this.video.sinkId !== audiooutput) this.video.setSinkId(audiooutput).catch(() => {});
this.element.classList.toggle("with-video", peer.showsVideo);
this.element.classList.toggle("with-screen", peer.state.screen);
this.muted.hidden = peer.state.microphone;
const note = peer.isConnected ? "" : t(peer.wasConnected ? "callReconnecting" : "connecting");
if (this.note.textContent !== note) this.note.textContent = note;
this.quality.hidden = peer.quality === null || !peer.isConnected;
this.quality.dataset.level = String(peer.quality ?? 0);
if (peer.quality) {
const label = t(QUALITY[peer.quality]);
this.quality.setAttribute("aria-label", label);
this.quality.title = label;
}
}

close() {
this.video.srcObject = null;
this.element.remove();
}
}

class OwnTile {
#stream = new MediaStream();

constructor() {
this.video = h("video", { autoplay: true, playsinline: true, muted: true, "aria-label": t("callOwnPicture") });
this.video.muted = true;
this.element = h("div", { class: "tile own-tile", role: "group", "aria-label": t("you") }, this.video);
}

update(local) {
const track = local.video;
this.element.hidden = !track;
if (this.#stream.getTracks()[0] === (track ?? undefined)) return;
this.#stream = new MediaStream(track ? [track] : []);
show(this.video, this.#stream);
this.element.classList.toggle("with-screen", Boolean(local.screen));
}

close() {
this.video.srcObject = null;
this.element.remove();
}
}
return { PeerTile, OwnTile };
})();
const $views_calldevices = (() => {

const { openMenu } = $views_menu;
const { attempt } = $views_toast;
const { chosenDevices, listDevices } = $calls_media;
const { t } = $i18n_index;

const KINDS = [["audioinput", "voice", "callMicrophone"], ["videoinput", "video", "callCamera"], ["audiooutput", "bell", "callSpeaker"]];

async function openDeviceMenu(anchor, local, changed) {
const devices = await listDevices();
const chosen = chosenDevices();
const inUse = { audioinput: local.microphone?.getSettings().deviceId, videoinput: local.camera?.getSettings().deviceId };
const groups = KINDS.map(([kind, symbol, name]) => devices.filter((each) => each.kind === kind).map((each, index, { length }) => ({
icon: symbol, label: `${t(name)}${t("colon")}${each.label || index + 1}`, checked: inUse[kind] ? inUse[kind] === each.deviceId : chosen[kind] === each.deviceId || (!chosen[kind] && (length === 1 || each.deviceId === "default")),
run: () => attempt(local.choose(kind, each.deviceId).then(changed)),
}))).filter((group) => group.length);
openMenu(anchor, groups.length ? groups.flatMap((group, index) => (index ? [null, ...group] : group)) : [{ icon: "info", label: t("callNoDevices"), run: () => {} }], { label: t("callDevices") });
}
return { openDeviceMenu };
})();
const $views_callscreen = (() => {

const { announce, h } = $views_dom;
const { icon } = $views_icons;
const { headAvatar } = $views_avatar;
const { OwnTile, PeerTile } = $views_calltiles;
const { openDeviceMenu } = $views_calldevices;
const { headTitle } = $views_model;
const { attempt } = $views_toast;
const { duration } = $i18n_format;
const { t } = $i18n_index;

const REASONS = {
noAnswer: "callNoAnswer", declined: "callWasDeclined", busy: "callWasBusy", missed: "callMissed", elsewhere: "callElsewhere", ended: "callOver", hungUp: "callOver",
lost: "callLost", full: "callFull", failed: "callFailed",
};

class CallScreen {
#tiles = new Map();
#own = new OwnTile();
#spoken = "";
#corner = null;
#clock;

constructor(state, center, call) {
Object.assign(this, { state, center, call });
const head = state.conversation(call.conv);
this.title = headTitle(state, head);
this.status = h("span", { class: "call-status" });
this.face = h("div", { class: "call-face" }, headAvatar(state, head, { size: "xl", online: false }), h("h2", {}, this.title));
this.grid = h("div", { class: "call-grid" });
this.full = this.#button("minimize", "minimize", "callMinimize", () => this.setSmall(!this.isSmall));
this.microphone = this.#button("microphone", "voice", "callMute", () => attempt(call.local.setMuted(call.local.state.microphone)));
this.camera = this.#button("camera", "video", "callCameraOn", () => attempt(call.local.setCamera(!call.local.camera)));
this.screen = this.#button("screen", "screen", "callShare", () => this.#share());
this.devices = this.#button("devices", "settings", "callDevices", () => openDeviceMenu(this.devices, call.local, () => this.update()));
this.picture = this.#button("picture", "mirrorPicture", "callPicture", () => attempt(this.#popOut()));
this.hangUp = h("button", { type: "button", class: "call-button hang-up", "data-action": "hang-up", onclick: () => attempt(center.hangUp()) }, icon("hangUp"));
this.screen.hidden = !navigator.mediaDevices?.getDisplayMedia;
this.picture.hidden = !document.pictureInPictureEnabled;
this.element = h("section", { class: "call-screen", role: "dialog", "aria-label": t("callWith", { name: this.title }), tabindex: "-1" },
h("header", { class: "call-head" }, h("div", { class: "lines grow" }, h("strong", { class: "ellipsis" }, this.title), this.status), this.full),
h("div", { class: "call-stage" }, this.face, this.grid, this.#own.element),
h("div", { class: "call-controls", role: "toolbar", "aria-label": t("callControls") }, this.microphone, this.camera, this.screen, this.picture, this.devices, this.hangUp));
this.element.addEventListener("keydown", (event) => this.#typed(event));
this.element.firstChild.addEventListener("pointerdown", (event) => this.#drag(event));
this.resized = () => this.#place(this.isSmall ? this.#corner : null);
addEventListener("resize", this.resized);
this.before = document.activeElement;
document.body.append(this.element);
this.setSmall(false);
this.update();
this.#clock = setInterval(() => this.#showStatus(), 500);
}

#button(action, symbol, label, run) {
return h("button", { type: "button", class: "call-button", "data-action": action, "aria-label": t(label), title: t(label), onclick: run }, icon(symbol));
}

setSmall(isSmall) {
this.isSmall = isSmall;
this.element.classList.toggle("small-call", isSmall);
this.#place(isSmall ? this.#corner : null);
if (isSmall) this.element.removeAttribute("aria-modal");
else this.element.setAttribute("aria-modal", "true");
document.getElementById("app").inert = !isSmall;
this.#label(this.full, isSmall ? "maximize" : "minimize", t(isSmall ? "callMaximize" : "callMinimize"));
if (!isSmall) this.hangUp.focus({ preventScroll: true });
else if (this.before?.isConnected) this.before.focus({ preventScroll: true });
}

#drag(event) {
if (!this.isSmall || event.button !== 0 || event.target.closest("button")) return;
const { currentTarget: handle, pointerId, clientX, clientY } = event;
const { left, top } = this.element.getBoundingClientRect();
const move = ({ clientX: x, clientY: y }) => this.#place((this.#corner = { left: left + x - clientX, top: top + y - clientY }));
handle.setPointerCapture(pointerId);
handle.addEventListener("pointermove", move);
handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
}

#place(corner) {
const { style, offsetWidth: width, offsetHeight: height } = this.element;
style.inset = "";
if (!corner) return;
const within = (value, most) => Math.max(8, Math.min(value, most - 8));
style.inset = `${within(corner.top, innerHeight - height)}px auto auto ${within(corner.left, innerWidth - width)}px`;
}

#label(button, symbol, label, isPressed) {
if (isPressed !== undefined) button.setAttribute("aria-pressed", String(isPressed));
if (button.dataset.shown === `${symbol} ${label}`) return;
button.dataset.shown = `${symbol} ${label}`;
button.setAttribute("aria-label", label);
button.title = label;
button.replaceChildren(icon(symbol));
}

update() {
const { call } = this;
const peers = new Set(call.peers.values());
for (const [peer, tile] of this.#tiles) if (!peers.has(peer)) { tile.close(); this.#tiles.delete(peer); }
for (const peer of peers) {
if (!this.#tiles.has(peer)) {
const tile = new PeerTile(this.state, peer);
this.#tiles.set(peer, tile);
this.grid.append(tile.element);
}
this.#tiles.get(peer).update();
}
this.grid.dataset.count = String(peers.size);
this.face.hidden = peers.size > 0;
this.#own.update(call.local);
const { microphone, camera, screen } = call.local.state;
this.#label(this.microphone, microphone ? "voice" : "voiceOff", t(microphone ? "callMute" : "callUnmute"));
this.#label(this.camera, camera ? "video" : "videoOff", t(camera ? "callCameraOff" : "callCameraOn"));
this.#label(this.screen, "screen", t(screen ? "callUnshare" : "callShare"), screen);
this.#label(this.hangUp, "hangUp", t(call.isGroup ? "callLeave" : "callHangUp"));
for (const [button, isOff] of [[this.microphone, !microphone], [this.camera, !camera]]) button.classList.toggle("off", isOff);
this.picture.disabled = ![...peers].some((peer) => peer.showsVideo);
const isOver = call.isOver;
this.element.classList.toggle("is-over", isOver);
for (const button of this.element.querySelectorAll(".call-controls button")) if (button !== this.picture) button.disabled = isOver;
this.#showStatus();
}

#showStatus() {
const text = this.#text();
if (this.status.textContent !== text) this.status.textContent = text;
const spoken = this.call.isConnected ? t("callConnected") : text;
if (spoken === this.#spoken) return;
this.#spoken = spoken;
announce(spoken);
}

#text() {
const { call } = this;
switch (call.phase) {
case "over": return t(REASONS[call.reason] ?? "callOver");
case "starting": case "outgoing": return t("callCalling");
case "incoming": case "joining": return t("connecting");
}
if (call.peers.size === 0) return t(call.isGroup ? "callAlone" : "connecting");
if (!call.isConnected) return t([...call.peers.values()].some((peer) => peer.wasConnected) ? "callReconnecting" : "connecting");
const time = duration(Math.max(0, this.state.now - (call.startedAt ?? this.state.now)));
return this.state.connection?.state === "online" ? time : `${time} · ${t("offline")}`;
}

async #share() {
const { local } = this.call;
try {
await local.setScreen(!local.screen);
} catch (error) {
if (error.code !== "media_denied") await attempt(Promise.reject(error));
}
}

async #popOut() {
if (document.pictureInPictureElement) return document.exitPictureInPicture();
const tile = [...this.#tiles.values()].find(({ peer }) => peer.showsVideo);
await tile?.video.requestPictureInPicture();
}

#typed(event) {
if (event.key === "Escape" && !this.isSmall && !event.defaultPrevented) {
event.preventDefault();
event.stopPropagation();
this.setSmall(true);
} else if (!this.isSmall && event.key === "Tab") this.#keepFocus(event);
}

#keepFocus(event) {
const all = [...this.element.querySelectorAll("button:not(:disabled)")].filter((each) => !each.hidden);
const [first, last] = [all[0], all.at(-1)];
if (event.shiftKey ? document.activeElement === first : document.activeElement === last) {
event.preventDefault();
(event.shiftKey ? last : first)?.focus();
}
}

close() {
clearInterval(this.#clock);
removeEventListener("resize", this.resized);
if (document.pictureInPictureElement && this.element.contains(document.pictureInPictureElement)) document.exitPictureInPicture().catch(() => {});
for (const tile of this.#tiles.values()) tile.close();
this.#own.close();
document.getElementById("app").inert = false;
const hadFocus = this.element.contains(document.activeElement);
this.element.remove();
if ((hadFocus || document.activeElement === document.body) && this.before?.isConnected) this.before.focus({ preventScroll: true });
}
}
return { CallScreen };
})();
const $views_camera = (() => {

const { announce, h, replace } = $views_dom;
const { icon } = $views_icons;
const { openDialog } = $views_dialog;
const { toast } = $views_toast;
const { openCamera, recordFilm } = $media_recorder;
const { duration } = $i18n_format;
const { t } = $i18n_index;

const LONGEST = 60_000;

async function recordVideo() {
let facing = "user";
let stream;
try {
stream = await openCamera(facing);
} catch (error) {
console.warn(error);
toast(t(error.name === "NotAllowedError" ? "cameraRefused" : "cameraFailed"), { role: "alert" });
return null;
}
return new Promise((resolve) => {
let recording = null;
let file = null;
let clock = 0;
const view = h("video", { class: "camera", playsinline: true, autoplay: true, "aria-label": t("cameraPicture") });
view.muted = true;
const time = h("span", { class: "time", role: "timer" }, duration(0));
const main = h("button", { type: "button", class: "record-button", autofocus: true, onclick: () => (recording ? finish() : begin()) });
const flip = h("button", { type: "button", class: "icon-button", "aria-label": t("cameraFlip"), onclick: () => turn() }, icon("undo"));

const show = () => {
view.srcObject = stream;
view.classList.toggle("mirrored", facing === "user");
};
const stop = () => { for (const track of stream.getTracks()) track.stop(); };
const label = () => {
replace(main, icon(recording ? "stop" : "record"));
main.setAttribute("aria-label", t(recording ? "recordStop" : "recordVideo"));
flip.disabled = Boolean(recording);
};
const begin = () => {
recording = recordFilm(stream);
announce(t("recording"));
label();
clock = setInterval(() => {
time.textContent = duration(recording?.duration ?? 0);
if (recording?.duration >= LONGEST) finish();
}, 200);
};
const finish = async () => {
clearInterval(clock);
main.disabled = true;
const made = await recording.finish();
recording = null;
if (made.file.size) file = new File([made.file], `video.${made.file.type.includes("mp4") ? "mp4" : "webm"}`, { type: made.file.type });
dialog.close();
};
const turn = async () => {
const other = facing === "user" ? "environment" : "user";
try {
stop();
stream = await openCamera(other);
facing = other;
} catch {
stream = await openCamera(facing).catch(() => stream);
}
show();
};
const dialog = openDialog(t("attachCamera"), [view, h("div", { class: "camera-bar" }, flip, main, time)], { label: "camera-dialog", onclose: () => {
clearInterval(clock);
recording?.cancel();
stop();
resolve(file);
} });
label();
show();
});
}
return { recordVideo };
})();
const $views_compose = (() => {

const { h } = $views_dom;
const { icon } = $views_icons;
const { openDialog, switchRow } = $views_dialog;
const { choosePerson } = $views_pickers;
const { toast } = $views_toast;
const { userName } = $views_model;
const { t } = $i18n_index;

const YEAR = 364 * 86_400_000;

const localTime = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function clockTime(hour, days) {
const date = new Date();
date.setDate(date.getDate() + days);
return date.setHours(hour, 0, 0, 0);
}

function newPoll() {
return new Promise((resolve) => {
let content = null;
let multiple = false;
let anonymous = false;
let closes = null;
const ending = h("input", { type: "datetime-local", class: "input", value: localTime(Date.now() + 86_400_000), min: localTime(Date.now() + 60_000) });
const endField = h("label", { class: "field", hidden: true }, t("pollClosesAt"), ending);
const question = h("input", { class: "input", maxlength: "300", required: true, autofocus: true });
const options = h("div", { class: "dialog-body" });
const add = () => {
if (options.children.length >= 20) return null;
const input = h("input", { class: "input", maxlength: "100", "aria-label": t("pollOption", { n: options.children.length + 1 }), placeholder: t("pollOption", { n: options.children.length + 1 }) });
options.append(input);
return input;
};
add();
add();
const form = h("form", { onsubmit: (event) => {
event.preventDefault();
const inputs = [...options.querySelectorAll("input")];
const texts = inputs.map((input) => input.value.trim()).filter(Boolean);
const missing = [question, ...(texts.length < 2 ? inputs : [])].find((input) => !input.value.trim());
if (missing) {
if (missing === document.activeElement) toast(t("fieldRequired"));
return missing.focus();
}
content = { kind: "poll", body: { question: question.value.trim(), options: texts, ...(multiple && { multiple }), ...(anonymous && { anonymous }), ...(closes && ending.value && { closes_at: new Date(ending.value).getTime() }) } };
dialog.close();
} },
h("div", { class: "dialog-body" }, h("label", { class: "field" }, t("pollQuestion"), question)), options,
h("div", { class: "dialog-body" }, h("button", { type: "button", class: "button", onclick: () => add()?.focus() }, icon("plus"), t("pollAddOption")),
switchRow(t("pollMultiple"), false, (on) => { multiple = on; }), switchRow(t("pollAnonymous"), false, (on) => { anonymous = on; }),
switchRow(t("pollCloses"), false, (on) => { closes = on; endField.hidden = !on; }), endField),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), h("button", { type: "submit", class: "button primary" }, t("send"))));
const dialog = openDialog(t("pollCreate"), form, { onclose: () => resolve(content), label: "scrolls" });
});
}

async function shareContact(app) {
const user = await choosePerson(app, t("attachContact"));
return user ? { kind: "card", body: { user: user.name, nick: userName(app.state, user.name) } } : null;
}

function scheduleTime(at = Date.now() + 3_600_000) {
return new Promise((resolve) => {
let answer = null;
const input = h("input", { type: "datetime-local", class: "input", required: true, autofocus: true, value: localTime(at), min: localTime(Date.now() + 60_000), max: localTime(Date.now() + YEAR) });
const set = (time) => { input.value = localTime(time); };
const quick = [["inHour", Date.now() + 3_600_000], ["tonight", clockTime(20, 0)], ["tomorrowMorning", clockTime(9, 1)]].filter(([, time]) => time > Date.now() + 60_000);
const form = h("form", { onsubmit: (event) => { event.preventDefault(); answer = new Date(input.value).getTime(); dialog.close(); } },
h("div", { class: "dialog-body" }, h("div", { class: "button-row" }, quick.map(([name, time]) => h("button", { type: "button", class: "chip", onclick: () => set(time) }, t(name)))),
h("label", { class: "field" }, t("scheduleAt"), input), h("p", { class: "small muted" }, t("timeZone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone }))),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), h("button", { type: "submit", class: "button primary" }, t("schedule"))));
const dialog = openDialog(t("schedule"), form, { onclose: () => resolve(answer) });
});
}
return { newPoll, shareContact, scheduleTime };
})();
const $views_conversationmenu = (() => {

const { openMenu } = $views_menu;
const { confirm, openDialog, selectRow } = $views_dialog;
const { attempt } = $views_toast;
const { h } = $views_dom;
const { withPanels } = $views_later;
const { isGroup, isMuted, mayExpire, userName } = $views_model;
const { span } = $i18n_format;
const { t } = $i18n_index;

const HOUR = 3_600_000;
const FOREVER = 4_102_444_800_000;

function conversationMenu(app, anchor, head, { thread = null } = {}) {
const { state } = app;
const set = (values) => attempt(state.setOwn(head.conv, values));
const peer = head.kind === "pair" ? head.peer?.name : null;
if (head.state === "invited" || head.state === "requested") {
openMenu(anchor, [
{ icon: "close", label: t(head.state === "invited" ? "decline" : "takeBackRequest"), run: () => attempt(head.state === "invited" ? state.answerInvitation(head.conv, false) : state.leave(head.conv)) },
head.state === "invited" && { icon: "warning", label: t("report"), danger: true, run: () => app.report({ conv: head.conv }) },
], { label: t("more") });
return;
}
openMenu(anchor, [
thread && { icon: "info", label: t("chatInfo"), run: () => app.toggleDetails(true) },
thread && { icon: "search", label: t("search"), run: () => app.search({ conv: head.conv }) },
{ icon: "pin", label: t(head.own?.pinned_at ? "unpinChat" : "pinChat"), run: () => set({ pinned: !head.own?.pinned_at }) },
isMuted(head) ? { icon: "bell", label: t("unmute"), run: () => set({ muted_until: 0 }) } : { icon: "bellOff", label: t("mute"), run: () => chooseMute(set, head) },
{ icon: "archive", label: t(head.own?.archived ? "unarchive" : "archive"), run: () => set({ archived: !head.own?.archived }) },
{ icon: "bookmark", label: t("folders"), run: () => withPanels(({ chooseFolders }) => chooseFolders(app, head.conv)) },
head.unread || head.own?.marked_unread ? { icon: "check", label: t("markRead"), run: () => attempt(Promise.all([state.mark(head.conv, head.n), head.own?.marked_unread ? state.setOwn(head.conv, { marked_unread: false }) : null])) }
: { icon: "star", label: t("markUnread"), run: () => set({ marked_unread: true }) },
thread && { icon: "calendar", label: t("scheduled"), run: () => withPanels(({ showScheduled }) => showScheduled(app, head.conv)) },
thread && mayExpire(head) && { icon: "timer", label: t("disappearing"), run: () => withPanels(({ chooseExpiry }) => chooseExpiry(state, head)) },
null,
peer && state.contact(peer)?.state === "blocked" && { icon: "shield", label: t("unblock"), run: () => attempt(state.unblock(peer)) },
peer && state.contact(peer)?.state !== "blocked" && { icon: "shield", label: t("block"), danger: true, run: async () => { if (await confirm(t("blockQuestion", { name: userName(state, peer) }), { yes: t("block"), dangerous: true })) attempt(state.block(peer)); } },
peer && { icon: "warning", label: t("report"), danger: true, run: () => app.report({ user: peer }) },
isGroup(head) && (!head.state || head.state === "joined") && { icon: "leave", label: t(head.kind === "channel" ? "leaveChannel" : "leave"), danger: true, run: () => withPanels(({ leave }) => leave(app, head)) },
head.kind !== "self" && { icon: "trash", label: t("deleteChat"), danger: true, run: async () => { if (await confirm(t("deleteChatQuestion"), { yes: t("delete"), dangerous: true })) { if (app.openID === head.conv) app.closeThread(); attempt(state.deleteConversation(head.conv)); } } },
isGroup(head) && head.role === "owner" && { icon: "trash", label: t("deleteForAll"), danger: true, run: () => withPanels(({ deleteForAll }) => deleteForAll(app, head)) },
], { label: t("more") });
}

function chooseMute(set, head) {
const choices = [[t("muteFor", { time: span(3_600) }), HOUR], [t("muteFor", { time: span(28_800) }), 8 * HOUR], [t("muteFor", { time: span(172_800) }), 48 * HOUR], [t("muteForever"), null]];
const rule = head && isGroup(head) ? selectRow(t("notifyAbout"), head.own?.notify ?? "all", [["all", t("notifyAll")], ["mentions", t("notifyMentions")]], (notify) => set({ notify })) : null;
const dialog = openDialog(t(rule ? "notifications" : "mute"), h("div", { class: "dialog-body" }, rule, choices.map(([label, time]) =>
h("button", { type: "button", class: "button wide", onclick: () => { dialog.close(); set({ muted_until: time === null ? FOREVER : Date.now() + time }); } }, label))));
}
return { conversationMenu, chooseMute };
})();
const $views_links = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { confirm, openDialog, selectRow, switchRow } = $views_dialog;
const { submitting } = $views_fields;
const { attempt, toast } = $views_toast;
const { copyText } = $views_clipboard;
const { roleName, userName } = $views_model;
const { shortDate, span } = $i18n_format;
const { t } = $i18n_index;

const ENDS = [0, 3_600, 86_400, 7 * 86_400, 30 * 86_400];
const USES = [0, 1, 5, 10, 50, 100, 1000];

const linkAddress = (code) => new URL(`/join#${code}`, location.href).href;

class LinkList {
constructor(state, conv) {
this.state = state;
this.conv = conv;
this.list = h("ul", {});
this.make = h("button", { type: "button", class: "button", onclick: () => this.#create() }, icon("link"), t("newLink"));
this.element = h("div", { class: "block" }, h("h3", {}, t("inviteLinks")), this.list, this.make);
this.update();
}

async update() {
const links = await this.state.links(this.conv).catch(() => []);
replace(this.list, links.length ? links.map((link) => this.#row(link)) : h("li", { class: "small muted" }, t("noLinks")));
}

#row(link) {
const address = linkAddress(link.code);
const isOver = (link.expires_at && link.expires_at < Date.now()) || (link.uses && link.used >= link.uses);
const facts = [link.uses ? t("linkUses", { used: link.used ?? 0, n: link.uses }) : t("linkUsed", { n: link.used ?? 0 }),
link.expires_at ? t("linkExpires", { time: shortDate(link.expires_at) }) : t("linkForever"), link.role && link.role !== "member" ? roleName(link.role) : null, t("linkBy", { name: userName(this.state, link.by) })];
return h("li", { class: "link-row" },
h("div", { class: "lines" }, h("div", { class: `ellipsis${isOver ? " muted" : ""}`, title: address }, address.split("/").at(-1)), h("div", { class: "small muted" }, facts.filter(Boolean).join(" · "))),
h("button", { type: "button", class: "icon-button", "aria-label": t("copyLink"), title: t("copyLink"), onclick: () => copyText(address) }, icon("copy")),
h("button", { type: "button", class: "icon-button danger", "aria-label": t("revoke"), title: t("revoke"), onclick: async () => {
if (!(await confirm(t("revokeQuestion"), { yes: t("revoke"), dangerous: true }))) return;
await attempt(this.state.revokeLink(this.conv, link.code));
this.update();
this.make.focus();
} }, icon("trash")));
}

#create() {
const values = { ends: 7 * 86_400, uses: 0, role: "member", approval: false };
const set = (name) => (value) => { values[name] = name === "role" ? value : Number(value); };
const save = h("button", { type: "submit", class: "button primary" }, t("createLink"));
const form = h("form", { onsubmit: submitting(save, async () => {
const link = await attempt(this.state.createLink(this.conv, { role: values.role, approval: values.approval, uses: values.uses || undefined, expires_at: values.ends ? Date.now() + values.ends * 1000 : undefined }));
if (!link) return;
dialog.close();
this.update();
copyText(linkAddress(link.code));
}) },
h("div", { class: "dialog-body rows" },
selectRow(t("linkEnds"), values.ends, ENDS.map((seconds) => [seconds, seconds ? t("linkAfter", { time: span(seconds) }) : t("never")]), set("ends")),
selectRow(t("linkMost"), values.uses, USES.map((uses) => [uses, uses ? t("peopleCount", { n: uses }) : t("unlimited")]), set("uses")),
selectRow(t("linkRole"), values.role, ["member", "reader", "guest"].map((role) => [role, roleName(role)]), set("role")),
switchRow(t("linkApproval"), false, (on) => { values.approval = on; }),
h("p", { class: "small muted" }, t("linkHint"))),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), save));
const dialog = openDialog(t("newLink"), form);
}
}
return { linkAddress, LinkList };
})();
const $text_links = (() => {

const { isSafeURL, LINK, linkEnd } = $text_markdown;

const MOST = 20;

function linksOf({ text, entities = [] } = {}) {
const found = new Set(entities.filter(({ type, url }) => type === "link" && typeof url === "string").map(({ url }) => url));
if (typeof text === "string") for (const match of text.matchAll(LINK)) found.add(linkEnd(match[0]));
return [...found].filter((url) => isSafeURL(url)).slice(0, MOST);
}
return { linksOf };
})();
const $views_zoom = (() => {

const MOST = 8;
const STEP = 1.5;
const SWIPE = 60;

function zoomed(view, scale, px = 0, py = 0) {
const next = Math.max(1, Math.min(MOST, scale));
if (next === 1) return { scale: 1, x: 0, y: 0 };
const ratio = next / view.scale;
return { scale: next, x: px - (px - view.x) * ratio, y: py - (py - view.y) * ratio };
}

function bounded({ scale, x, y }, width, height) {
const limit = (size) => Math.max(0, (size * (scale - 1)) / 2);
const [across, along] = [limit(width), limit(height)];
return { scale, x: Math.max(-across, Math.min(across, x)), y: Math.max(-along, Math.min(along, y)) };
}

class Zoom {
#view = { scale: 1, x: 0, y: 0 };
#points = new Map();
#moved = { x: 0, y: 0 };

constructor(stage, { swiped, changed = () => {} }) {
Object.assign(this, { stage, swiped, changed });
stage.addEventListener("wheel", (event) => {
if (!this.target) return;
event.preventDefault();
const [x, y] = this.#place(event);
this.#set(zoomed(this.#view, this.scale * Math.exp(-event.deltaY / 300), x, y));
}, { passive: false });
stage.addEventListener("dblclick", (event) => {
if (event.target === this.target) this.#set(this.scale > 1 ? zoomed(this.#view, 1) : zoomed(this.#view, 2.5, ...this.#place(event)));
});
stage.addEventListener("pointerdown", (event) => this.#down(event));
stage.addEventListener("pointermove", (event) => this.#move(event));
for (const type of ["pointerup", "pointercancel"]) stage.addEventListener(type, (event) => this.#up(event));
}

get scale() { return this.#view.scale; }

show(target) {
this.target = target;
this.#points.clear();
this.#set({ scale: 1, x: 0, y: 0 });
}

typed({ key }) {
if (key === "+" || key === "=") this.by(1);
else if (key === "-") this.by(-1);
else if (key === "0") this.#set(zoomed(this.#view, 1));
else if (this.scale > 1 && key.startsWith("Arrow")) {
const [x, y] = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[key];
this.#set({ scale: this.scale, x: this.#view.x + x, y: this.#view.y + y });
} else return false;
return true;
}

by(steps) {
if (this.target) this.#set(zoomed(this.#view, this.scale * STEP ** steps));
}

#set(view) {
if (!this.target) {
this.#view = { scale: 1, x: 0, y: 0 };
return this.changed();
}
this.#view = bounded(view, this.target.offsetWidth, this.target.offsetHeight);
const { scale, x, y } = this.#view;
this.target.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
this.stage.classList.toggle("zoomed", scale > 1);
this.changed();
}

#place({ clientX, clientY }) {
const { left, top, width, height } = this.stage.getBoundingClientRect();
return [clientX - left - width / 2, clientY - top - height / 2];
}

#down(event) {
if (event.button !== 0 || event.target.closest("button, video")) return;
this.#points.set(event.pointerId, { x: event.clientX, y: event.clientY });
if (this.#points.size === 1) this.#moved = { x: 0, y: 0 };
if (event.target === this.target) event.preventDefault();
}

#move(event) {
const before = this.#points.get(event.pointerId);
if (!before) return;
const point = { x: event.clientX, y: event.clientY };
const others = [...this.#points].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
this.#points.set(event.pointerId, point);
const [x, y] = [point.x - before.x, point.y - before.y];
if (others.length === 1) {
const [other] = others;
const apart = (one) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
const middle = this.#place({ clientX: (point.x + other.x) / 2, clientY: (point.y + other.y) / 2 });
this.#set(zoomed(this.#view, (this.scale * apart(point)) / apart(before), ...middle));
} else if (this.scale > 1) this.#set({ scale: this.scale, x: this.#view.x + x, y: this.#view.y + y });
else this.#moved = { x: this.#moved.x + x, y: this.#moved.y + y };
}

#up(event) {
if (!this.#points.delete(event.pointerId) || this.#points.size > 0 || this.scale > 1) return;
const { x, y } = this.#moved;
if (event.type === "pointerup" && Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) this.swiped(x < 0 ? 1 : -1);
}

get wasMoved() { return Math.hypot(this.#moved.x, this.#moved.y) > 8; }
}
return { zoomed, bounded, Zoom };
})();
const $views_viewer = (() => {

const { announce, h, replace } = $views_dom;
const { icon } = $views_icons;
const { userName } = $views_model;
const { previewURL } = $views_pictures;
const { Zoom } = $views_zoom;
const { blurCanvas } = $text_blurhash;
const { renderText } = $text_render;
const { player } = $media_player;
const { fullDate } = $i18n_format;
const { t } = $i18n_index;

function openViewer(state, row, { rows = [row], jump = null } = {}) {
let index = Math.max(0, rows.findIndex((each) => each.key === row.key));
const button = (name, label, run, more = {}) => h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: run, ...more }, icon(name));
const who = h("span", { class: "grow" });
const save = h("a", { class: "icon-button", "aria-label": t("download"), title: t("download") }, icon("download"));
const smaller = button("minus", t("zoomOut"), () => zoom.by(-1));
const larger = button("plus", t("zoomIn"), () => zoom.by(1));
const toMessage = button("chatBubble", t("showInChat"), () => { dialog.close(); jump(rows[index]); }, { hidden: !jump });
const before = button("back", t("previousPicture"), () => go(-1), { class: "icon-button step" });
const after = button("chevron", t("nextPicture"), () => go(1), { class: "icon-button step next" });
const stage = h("div", { class: "stage" });
const caption = h("div", { class: "caption", hidden: true });
const closer = button("close", t("close"), () => dialog.close(), { autofocus: true });
const dialog = h("dialog", { class: "viewer" },
h("div", { class: "bar" }, who, smaller, larger, toMessage, save, closer),
h("div", { class: "stage-box" }, stage, before, after), caption);
const zoom = new Zoom(stage, { swiped: (step) => go(step), changed: () => {
const [isSmallest, isLargest] = [zoom.scale <= 1, !zoom.target || zoom.scale >= 8];
if ((isSmallest && document.activeElement === smaller) || (isLargest && document.activeElement === larger)) closer.focus();
smaller.disabled = isSmallest;
larger.disabled = isLargest;
} });

function show() {
const current = rows[index];
const { body } = current;
const isFilm = current.kind === "video";
const src = current.localURL ?? state.blobURL(body.blob);
const name = t(isFilm ? "video" : "picture");
dialog.setAttribute("aria-label", body.text ? `${name}: ${body.text}` : name);
replace(who, h("strong", { class: "ellipsis" }, userName(state, current.sender)),
h("div", { class: "small" }, [current.at ? fullDate(current.at) : "", rows.length > 1 ? t("pictureOf", { n: index + 1, total: rows.length }) : ""].filter(Boolean).join(" · ")));
save.href = src;
save.download = body.name ?? "";
before.hidden = index === 0;
after.hidden = index === rows.length - 1;
for (const each of [smaller, larger]) each.hidden = isFilm;
const shown = isFilm ? film(current, src) : still(current, src, body.text ?? body.name ?? name);
stage.querySelector("video")?.pause();
replace(stage, shown);
zoom.show(isFilm ? null : shown);
caption.hidden = !body.text;
replace(caption, body.text ? renderText(body.text, body.entities, { me: state.account?.name }) : null);
}

function still(current, src, alt) {
const { body } = current;
const image = h("img", { alt, draggable: "false", width: body.width, height: body.height });
const preview = previewURL(state, current);
image.src = preview && preview !== src ? preview : src;
if (image.getAttribute("src") === src) return image;
const whole = new Image();
whole.onload = () => { image.src = src; };
whole.src = src;
return image;
}

function film(current, src) {
player.stop();
const video = h("video", { src, controls: true, autoplay: true, playsinline: true, loop: current.body.duration < 10_000, poster: previewURL(state, current), "aria-label": t("video") });
const blur = blurCanvas(current.body.thumb);
if (blur && !current.body.poster) video.poster = blur.toDataURL();
return video;
}

function go(step) {
if (!rows[index + step]) return;
index += step;
const lost = document.activeElement === before || document.activeElement === after;
show();
announce(dialog.getAttribute("aria-label"));
if (lost && document.activeElement === document.body) (after.hidden ? before : after).focus();
}

dialog.addEventListener("keydown", (event) => {
if (event.ctrlKey || event.metaKey || event.altKey) return;
if (zoom.target && zoom.typed(event)) event.preventDefault();
else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && event.target.tagName !== "VIDEO") {
event.preventDefault();
go(event.key === "ArrowLeft" ? -1 : 1);
}
});
stage.addEventListener("click", (event) => { if (event.target === stage && !zoom.wasMoved && zoom.scale === 1) dialog.close(); });
const focused = document.activeElement;
dialog.addEventListener("close", () => {
stage.querySelector("video")?.pause();
dialog.remove();
if (document.activeElement === document.body) focused?.focus?.({ preventScroll: true });
});
document.body.append(dialog);
dialog.showModal();
show();
}
return { openViewer };
})();
const $views_mediabrowser = (() => {

const { h, replace, Scope, uniqueID } = $views_dom;
const { openDialog } = $views_dialog;
const { bodyOf } = $views_attachments;
const { errorText, gone, userName } = $views_model;
const { picture } = $views_pictures;
const { linksOf } = $text_links;
const { openViewer } = $views_viewer;
const { fullDate, listTime } = $i18n_format;
const { t } = $i18n_index;

const TABS = [
{ name: "tabMedia", kinds: ["image", "video"], render: tile },
{ name: "tabFiles", kinds: ["file"], render: attachment },
{ name: "tabLinks", kinds: ["text"], query: "http", render: links, passes: (row) => linksOf(row.body).length > 0 },
{ name: "tabVoice", kinds: ["audio"], render: attachment },
];
const BEHIND = 600;
const RETRIES = 5;

function openMedia(app, conv) {
const { state } = app;
const scope = new Scope();
const status = h("div", { class: "section-title small muted", role: "status" });
const list = h("div", { class: "media-list", role: "tabpanel", tabindex: "-1" });
const end = h("div", { class: "media-end" });
const scroller = h("div", { class: "scroller media-scroller" }, list, end);
let tab = TABS[0];
let rows = [];
let page;
let version = 0;
let isLoading = false;
let retries = RETRIES;

const context = { state, actions: {
openPicture: (row) => openViewer(state, row, { rows, jump }),
openUser: (name) => app.openProfile(name),
nextVoice: (row) => rows[rows.findIndex((each) => each.key === row.key) - 1] ?? null,
discard: () => {},
}, jump };

function jump(row) {
dialog.close();
app.toggleDetails(false);
app.openConversation(conv, { seq: row.seq, ...(row.thread && { thread: row.thread }) });
}

async function more() {
if (isLoading || page === null) return;
isLoading = true;
const current = version;
const isFirst = page === undefined;
const { kinds, query = "", passes = () => true, render } = tab;
status.textContent = t("loading");
try {
const found = await state.media(conv, { kinds, query, page });
if (current !== version) return;
const known = new Set(rows.map((row) => row.seq));
const fresh = found.events.filter((event) => !known.has(event.seq)).map((event) => ({ ...event, key: String(event.seq), own: event.sender === state.account?.name })).filter((row) => !gone(state, row) && row.body && passes(row));
rows = [...rows, ...fresh];
list.append(...fresh.map((row) => render(context, row)));
page = found.page ?? null;
status.textContent = rows.length || page !== null ? "" : t("noMedia");
if (found.isBehind && isFirst && retries > 0) setTimeout(() => { if (current === version && scroller.scrollTop === 0) again(); }, BEHIND);
} catch (error) {
if (current !== version) return;
page = null;
status.textContent = errorText(error);
} finally {
if (current === version) {
isLoading = false;
if (page !== null) requestAnimationFrame(() => { if (scroller.isConnected && isAtEnd()) more(); });
}
}
}

function again() {
retries -= 1;
show(tab);
}

const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 400;

function show(next) {
tab = next;
version += 1;
rows = [];
page = undefined;
isLoading = false;
list.className = `media-list ${tab === TABS[0] ? "grid" : "lines"}`;
list.setAttribute("aria-labelledby", buttons.get(tab).id);
replace(list);
for (const [each, button] of buttons) {
button.setAttribute("aria-selected", String(each === tab));
button.tabIndex = each === tab ? 0 : -1;
}
more();
}

const buttons = new Map(TABS.map((each) => [each, h("button", { type: "button", role: "tab", class: "chip", id: uniqueID("tab"), onclick: () => show(each) }, t(each.name))]));
const bar = h("div", { class: "chips pad", role: "tablist", "aria-label": t("media"), onkeydown: (event) => {
const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
if (!step) return;
event.preventDefault();
const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length];
show(next);
buttons.get(next).focus();
} }, [...buttons.values()]);
scope.listen(scroller, "scroll", () => { if (isAtEnd()) more(); });
scope.listen(list, "keydown", (event) => typed(event, list));
const dialog = openDialog(t("media"), [bar, status, scroller], { wide: true, label: "tall", onclose: () => { version += 1; scope.close(); } });
show(tab);
buttons.get(tab).focus();
}

function typed(event, list) {
const tile = event.target.closest(".grid > *");
if (!tile) return;
const columns = getComputedStyle(list).gridTemplateColumns.split(" ").length;
const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
const next = step && [...list.children][[...list.children].indexOf(tile) + step];
if (!next) return;
event.preventDefault();
next.focus();
}

function tile(context, row) {
const button = picture(context, row, row.body, null);
button.dataset.seq = row.seq;
button.title = `${userName(context.state, row.sender)}, ${fullDate(row.at)}`;
button.setAttribute("aria-label", `${button.getAttribute("aria-label")}, ${button.title}`);
return button;
}

function line(context, row, content) {
return h("div", { class: "media-line", "data-seq": row.seq }, content,
h("div", { class: "sub small muted" }, `${userName(context.state, row.sender)} · ${listTime(row.at)} · `, h("button", { type: "button", class: "link", onclick: () => context.jump(row) }, t("showInChat"))));
}

function attachment(context, row) {
return line(context, row, bodyOf(context, row));
}

function links(context, row) {
return line(context, row, linksOf(row.body).map((url) =>
h("a", { class: "media-link", href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, h("strong", { class: "ellipsis" }, hostOf(url)), h("span", { class: "ellipsis" }, url))));
}

function hostOf(url) {
try {
return new URL(url).host || url;
} catch {
return url;
}
}
return { openMedia };
})();
const $views_memberactions = (() => {

const { h } = $views_dom;
const { confirm, openDialog } = $views_dialog;
const { openMenu } = $views_menu;
const { attempt } = $views_toast;
const { roleName, userName } = $views_model;
const { span } = $i18n_format;
const { t } = $i18n_index;

const DAY = 86_400;
const MUTES = [900, 3_600, 8 * 3_600, DAY, 7 * DAY];
const BANS = [DAY, 7 * DAY, 30 * DAY];
const ROLES = ["admin", "member", "reader", "guest"];
const RANK = ["guest", "reader", "member", "admin", "owner"];

function memberMenu(app, head, member, anchor, done) {
const { state } = app;
const { name } = member.user;
const shown = userName(state, name);
const isOwner = head.role === "owner";
const isJoined = member.state === "joined";
const isBelow = RANK.indexOf(member.role) < RANK.indexOf(head.role ?? "member") && (isOwner || head.role === "admin");
const run = (promise) => attempt(promise).then(done);
const sure = async (question, yes, work) => { if (await confirm(question, { yes, dangerous: true })) run(work()); };
const isMuted = member.muted_until > Date.now();
openMenu(anchor, [
{ icon: "person", label: t("profile"), run: () => app.openProfile(name) },
isJoined && { icon: "chatBubble", label: t("writeMessage"), run: () => app.openPerson(name) },
member.state === "requested" && { icon: "check", label: t("accept"), run: () => run(state.approve(head.conv, name, true)) },
member.state === "requested" && { icon: "close", label: t("decline"), run: () => run(state.approve(head.conv, name, false)) },
member.state === "invited" && { icon: "undo", label: t("takeBackInvitation"), run: () => run(state.removeMembers(head.conv, [name])) },
member.state === "banned" && { icon: "check", label: t("unban"), run: () => run(state.unban(head.conv, [name])) },
isJoined && isBelow && { icon: "star", label: t("changeRole"), run: () => chooseRole(state, head, member, done) },
isJoined && isOwner && { icon: "key", label: t("transferOwner"), run: () => sure(t("transferQuestion", { name: shown }), t("transferOwner"), () => state.setRole(head.conv, [name], "owner")) },
null,
isJoined && isBelow && (isMuted
? { icon: "bell", label: t("unmuteMember"), run: () => run(state.muteMembers(head.conv, [name], 0)) }
: { icon: "bellOff", label: t("muteMember"), run: () => chooseEnd(t("muteNamed", { name: shown }), MUTES, (until) => run(state.muteMembers(head.conv, [name], until))) }),
isJoined && isBelow && { icon: "trash", label: t("removeMember"), danger: true, run: () => sure(t("removeQuestion", { name: shown }), t("remove"), () => state.removeMembers(head.conv, [name])) },
member.state !== "banned" && isBelow && { icon: "shield", label: t("banMember"), danger: true, run: () => chooseEnd(t("banNamed", { name: shown }), BANS, (until) => run(state.ban(head.conv, [name], until)), true) },
], { label: shown });
}

function chooseEnd(title, spans, choose, dangerous = false) {
const button = (label, until) => h("button", { type: "button", class: `button wide${dangerous ? " dangerous" : ""}`, onclick: () => { dialog.close(); choose(until()); } }, label);
const dialog = openDialog(title, h("div", { class: "dialog-body" },
spans.map((seconds) => button(t("forTime", { time: span(seconds) }), () => Date.now() + seconds * 1000)), button(t("forGood"), () => undefined)));
}

function chooseRole(state, head, member, done) {
const isOwner = head.role === "owner";
const hints = { admin: "roleAdminHint", member: "roleMemberHint", reader: "roleReaderHint", guest: "roleGuestHint" };
const choose = async (role) => {
dialog.close();
if (role !== member.role) await attempt(state.setRole(head.conv, [member.user.name], role)).then(done);
};
const dialog = openDialog(t("roleOf", { name: userName(state, member.user.name) }), h("div", { class: "dialog-body" }, h("fieldset", { class: "group" }, h("legend", { class: "visually-hidden" }, t("changeRole")),
ROLES.filter((role) => role !== "admin" || isOwner).map((role) => h("button", { type: "button", class: "action-row", autofocus: role === member.role, "aria-pressed": String(role === member.role), onclick: () => choose(role) },
h("span", { class: "lines" }, h("span", { class: "title" }, roleName(role)), h("span", { class: "small muted" }, t(hints[role]))))))));
}
return { memberMenu };
})();
const $views_members = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { memberMenu } = $views_memberactions;
const { personRow } = $views_pickers;
const { RowList } = $views_rows;
const { attempt } = $views_toast;
const { errorText, isAdmin, isForGood, roleName, userName } = $views_model;
const { lastSeen, listTime, number, shortDate } = $i18n_format;
const { t } = $i18n_index;

const STATES = { joined: "members", requested: "joinRequests", invited: "invitedPeople", banned: "bannedPeople" };
const EMPTY = { joined: "noResults", requested: "noJoinRequests", invited: "noInvited", banned: "noBanned" };

const rank = ({ role }) => ["guest", "reader", "member", "admin", "owner"].indexOf(role);

class MemberPane {
#state = "joined";

constructor(app, head) {
this.app = app;
this.state = app.state;
this.head = head;
this.input = h("input", { type: "text", role: "searchbox", inputmode: "search", enterkeyhint: "search", class: "input search", placeholder: t("searchMembers"), "aria-label": t("searchMembers"), autocomplete: "off" });
this.title = h("h3", {}, t("members"));
this.tabs = h("div", { class: "filters", role: "group", "aria-label": t("members"), hidden: true });
this.rows = new RowList({
label: t("members"), className: "members-list", estimate: 56, search: this.input,
key: (member) => member.user.name, signature: (member) => this.#signature(member),
render: (member) => this.#row(member),
choose: (member) => this.#choose(member),
menu: (member, anchor) => this.#menu(member, anchor),
onend: () => this.list?.hasMore && !this.list.loading && this.list.loadMore(),
});
this.empty = h("p", { class: "empty", hidden: true });
this.rows.element.append(this.empty);
this.element = h("div", { class: "block members" }, this.title, this.tabs, h("div", { class: "search-box" }, icon("search"), this.input), this.rows.element);
let timer = 0;
this.input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => this.#open(), 150); });
const ends = [this.state.subscribe(`members:${head.conv}`, () => this.#show()), this.state.subscribe("presence", () => this.rows.list.layout())];
this.end = () => { for (const end of ends) end(); };
this.#open();
this.updateHead(head);
}

updateHead(head) {
const changed = this.head.members_version !== head.members_version || isAdmin(this.head) !== isAdmin(head);
this.head = head;
replace(this.title, `${t("members")} · ${number(head.members ?? 0)}`);
this.tabs.hidden = !isAdmin(head);
if (!isAdmin(head) && this.#state !== "joined") this.#chooseState("joined");
else if (changed || !this.counted) this.#count();
}

close() {
this.closed = true;
this.end();
this.list?.close?.();
this.rows.close();
}

async #count() {
this.counted = true;
this.#showTabs();
if (!isAdmin(this.head)) return;
const answer = await this.state.verb("members", { conv: this.head.conv, state: "requested" }).catch(() => null);
this.waiting = answer?.members.length ?? 0;
if (!this.closed) this.#showTabs();
}

#showTabs() {
const focused = this.tabs.contains(document.activeElement) ? document.activeElement.dataset.state : null;
replace(this.tabs, Object.entries(STATES).map(([state, label]) => h("button", {
type: "button", class: "chip", "data-state": state, "aria-pressed": String(state === this.#state), onclick: () => this.#chooseState(state),
}, t(label), state === "requested" && this.waiting ? [" ", h("span", { class: "count" }, number(this.waiting))] : null)));
if (focused) this.tabs.querySelector(`[data-state=${focused}]`)?.focus({ preventScroll: true });
}

showRequests() {
if (isAdmin(this.head)) this.#chooseState("requested");
}

#chooseState(state) {
this.#state = state;
this.#showTabs();
this.#open();
}

#open() {
this.list?.close?.();
this.list = this.state.members(this.head.conv, this.input.value.trim(), this.#state);
this.#show();
}

#show() {
const { list } = this;
if (this.#state === "requested" && !list.loading && !list.query && this.waiting !== list.members.length) {
this.waiting = list.members.length;
this.#showTabs();
}
this.rows.setRows(list.members.toSorted((one, other) => rank(other) - rank(one)));
this.empty.hidden = list.members.length > 0 || list.loading;
this.empty.textContent = list.error ? errorText(list.error) : t(list.query ? "noResults" : EMPTY[this.#state]);
}

#user(member) { return this.state.user(member.user.name) ?? member.user; }

#signature(member) {
const user = this.#user(member);
return `${member.role}|${member.muted_until ?? ""}|${user.online}|${user.last_seen}|${userName(this.state, user.name)}|${user.avatar}`;
}

#row(member) {
const user = this.#user(member);
const row = personRow(this.state, user, { sub: this.#sub(member, user), end: member.role && member.role !== "member" ? h("span", { class: "role" }, roleName(member.role)) : null });
if (this.#state !== "requested") return row;
const answer = (accept) => h("button", {
type: "button", class: "icon-button", title: t(accept ? "accept" : "decline"), "aria-label": `${t(accept ? "accept" : "decline")}${t("colon")}${userName(this.state, user.name)}`, onclick: () => this.#answer(user.name, accept),
}, icon(accept ? "check" : "close"));
return h("div", { class: "row-with-buttons" }, row, answer(true), answer(false));
}

#sub(member, user) {
const { state } = this;
if (this.#state === "requested") return t("askedAt", { time: listTime(member.since) });
if (this.#state === "invited") return member.by ? t("invitedBy", { name: userName(state, member.by) }) : `@${user.name}`;
if (this.#state === "banned") return !isForGood(member.banned_until) ? t("bannedUntil", { time: shortDate(member.banned_until) }) : t("bannedForever");
if (member.muted_until > Date.now()) return t(isForGood(member.muted_until) ? "mutedForever" : "mutedUntil", { time: shortDate(member.muted_until) });
if (user.online || user.name === state.account?.name) return t("online");
return user.last_seen ? lastSeen(user.last_seen) : `@${user.name}`;
}

async #answer(name, accept) {
await attempt(this.state.approve(this.head.conv, name, accept));
this.list.reload();
}

#choose(member) {
if (member.user.name === this.state.account?.name || !isAdmin(this.head)) this.app.openProfile(member.user.name);
else this.#menu(member, this.rows.list.element(member.user.name)?.querySelector(".row") ?? this.rows.element);
}

#menu(member, anchor) {
if (member.user.name === this.state.account?.name) return;
memberMenu(this.app, this.head, { ...member, state: this.#state }, anchor, () => this.list.reload());
}
}
return { MemberPane };
})();
const $views_leaving = (() => {

const { h } = $views_dom;
const { confirm, openDialog } = $views_dialog;
const { personRow, searchField } = $views_pickers;
const { RowList } = $views_rows;
const { attempt, toast } = $views_toast;
const { headTitle, userName } = $views_model;
const { t } = $i18n_index;

async function leave(app, head) {
const isChannel = head.kind === "channel";
if (head.role === "owner" && (head.members ?? 0) > 1) return nameOwner(app, head);
if (!(await confirm(t(isChannel ? "leaveChannelQuestion" : "leaveQuestion"), { yes: t(isChannel ? "leaveChannel" : "leave"), dangerous: true, detail: (head.members ?? 0) > 1 ? null : t("leaveLast") }))) return;
await go(app, head);
}

async function go(app, head) {
if (await attempt(app.state.leave(head.conv)) !== undefined && app.openID === head.conv) app.closeThread();
}

function nameOwner(app, head) {
const { state } = app;
const { input, element } = searchField(t("searchMembers"));
let list = null;
const rows = new RowList({
label: t("members"), className: "people", estimate: 56, search: input, key: (member) => member.user.name,
render: (member) => personRow(state, member.user),
choose: async ({ user: { name } }) => {
if (!(await confirm(t("transferAndLeave", { name: userName(state, name) }), { yes: t("leave"), dangerous: true }))) return;
dialog.close();
if (await attempt(state.setRole(head.conv, [name], "owner")) !== undefined) await go(app, head);
},
onend: () => list?.hasMore && !list.loading && list.loadMore(),
});
const show = () => rows.setRows((list?.members ?? []).filter(({ user }) => user.name !== state.account?.name));
const open = () => {
list?.close();
list = state.members(head.conv, input.value);
show();
};
let timer = 0;
input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(open, 150); });
const end = state.subscribe(`members:${head.conv}`, show);
const dialog = openDialog(t("newOwner"), [h("div", { class: "pad" }, h("p", { class: "small muted" }, t("leaveOwner")), element), rows.element], { label: "tall", onclose: () => { end(); list?.close(); rows.close(); } });
open();
}

async function deleteForAll(app, head) {
if (!(await confirm(t("deleteForAllQuestion", { title: headTitle(app.state, head) }), { yes: t("deleteForAll"), dangerous: true, detail: t("deleteForAllHint") }))) return;
const isOpen = app.openID === head.conv;
if (await attempt(app.state.deleteConversation(head.conv, true)) === undefined) return;
if (isOpen) app.closeThread();
toast(t("deletedForAll"));
}
return { leave, deleteForAll };
})();
const $views_groupsettings = (() => {

const { h } = $views_dom;
const { openDialog, selectRow, switchRow } = $views_dialog;
const { attempt, toast } = $views_toast;
const { errorText, refuseExpiry } = $views_model;
const { span } = $i18n_format;
const { t } = $i18n_index;

const SLOW = [0, 10, 30, 60, 300, 900, 3600];
const EXPIRIES = [0, 3_600, 86_400, 604_800, 2_592_000];

const withPresent = (values, present) => (values.includes(present) ? values : [...values, present].sort((one, other) => one - other));
const spans = (values, present) => withPresent(values, present).map((seconds) => [seconds, seconds ? span(seconds) : t("off")]);

const setter = (state, conv) => (name) => async (value) => ((await attempt(state.setConversation(conv, { settings: { [name]: value } }))) === undefined ? false : undefined);

function groupSettings(state, head) {
const settings = head.settings ?? {};
const set = setter(state, head.conv);
const level = [["members", t("everyMember")], ["admins", t("onlyAdmins")]];
const number = (name) => (value) => set(name)(Number(value));
openDialog(t("groupSettings"), h("div", { class: "dialog-body rows" },
h("h3", {}, t("rightsOfMembers")),
selectRow(t("whoWrite"), settings.write ?? (head.kind === "channel" ? "admins" : "members"), level, set("write")),
selectRow(t("whoInvite"), settings.invite ?? "members", level, set("invite")),
selectRow(t("whoManage"), settings.manage ?? "admins", level, set("manage")),
selectRow(t("whoPin"), settings.pin ?? "admins", level, set("pin")),
selectRow(t("whoMentionAll"), settings.mention_all ?? "admins", level, set("mention_all")),
h("h3", {}, t("joining")),
selectRow(t("whoJoins"), settings.join ?? "closed", [["closed", t("joinClosed")], ["approval", t("joinApproval")], ["open", t("joinOpen")]], set("join")),
switchRow(t("listed"), settings.listed ?? false, set("listed")),
selectRow(t("historyFor"), settings.history ?? "all", [["all", t("historyAll")], ["join", t("historyJoin")]], set("history")),
h("h3", {}, t("messages")),
selectRow(t("slowMode"), settings.slow ?? 0, spans(SLOW, settings.slow ?? 0), number("slow")),
selectRow(t("disappearing"), settings.expire ?? 0, spans(EXPIRIES, settings.expire ?? 0), number("expire")),
switchRow(t("showReceipts"), settings.receipts ?? true, set("receipts"))), { label: "scrolls" });
}

function chooseExpiry(state, head) {
const before = head.settings?.expire ?? 0;
const dialog = openDialog(t("disappearing"), h("div", { class: "dialog-body" }, h("p", { class: "small muted" }, t("disappearingHint")), selectRow(t("disappearAfter"), before, spans(EXPIRIES, before), async (value) => {
try {
await state.setConversation(head.conv, { settings: { expire: Number(value) } });
return undefined;
} catch (error) {
if (["unsupported", "forbidden", "bad_request"].includes(error.code)) {
refuseExpiry(head.kind);
dialog.close();
}
toast(errorText(error), { role: "alert" });
return false;
}
})));
}
return { groupSettings, chooseExpiry };
})();
const $views_profile = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { ask, confirm, openDialog } = $views_dialog;
const { lookalikeNote } = $views_lookalike;
const { answerRequest, askForContact, takeBack } = $views_requests;
const { attempt } = $views_toast;
const { userName } = $views_model;
const { lastSeen } = $i18n_format;
const { t } = $i18n_index;

const LONGEST_ALIAS = 50;

function openProfile(app, name) {
const { state } = app;
if (name === state.account?.name) {
app.settings("profile");
return;
}
const body = h("div", { class: "dialog-body profile" });
const show = () => {
const focused = body.contains(document.activeElement) ? document.activeElement.dataset.action : null;
replace(body, hero(state, name), request(state, name), actions(app, name, () => dialog.close()));
if (focused) (body.querySelector(`[data-action="${focused}"]`) ?? body.querySelector("button"))?.focus();
};
const ends = ["contacts", "users"].map((key) => state.subscribe(key, show));
const dialog = openDialog(t("profile"), body, { onclose: () => ends.forEach((end) => end()) });
show();
state.refresh(name);
body.querySelector("button")?.focus();
}

function hero(state, name) {
const user = state.user(name) ?? { name };
const shown = userName(state, name);
const presence = user.online ? t("online") : user.last_seen ? lastSeen(user.last_seen) : null;
return h("div", { class: "profile-head" }, userAvatar(state, user, { size: "xl" }), h("h2", {}, shown),
h("div", { class: "muted" }, user.alias && user.nick && user.nick !== shown ? `${user.nick} · @${name}` : `@${name}`),
user.deleted ? h("div", { class: "small muted" }, t("isDeleted")) : null,
presence ? h("div", { class: `small ${user.online ? "is-online" : "muted"}` }, presence) : null,
user.status ? h("p", { class: "about" }, user.status) : null, lookalikeNote(state, name));
}

function request(state, name) {
const contact = state.contact(name);
if (contact?.state !== "asked") return null;
return h("div", { class: "request-box" }, h("h3", {}, t("asksForContact")), contact.text ? h("p", { class: "said" }, contact.text) : null,
h("div", { class: "button-row" },
h("button", { type: "button", class: "button primary", "data-action": "accept", onclick: () => answerRequest(state, name, true) }, icon("check"), t("accept")),
h("button", { type: "button", class: "button", "data-action": "decline", onclick: () => answerRequest(state, name, false) }, t("decline"))));
}

function actions(app, name, close) {
const { state } = app;
const contact = state.contact(name);
const relation = contact?.state;
const shown = userName(state, name);
const row = (action, symbol, label, run, look = "") => h("button", { type: "button", class: `action-row ${look}`, "data-action": action, onclick: run }, icon(symbol), label);
return h("div", { class: "action-list" },
row("message", "chatBubble", t("writeMessage"), () => { close(); app.openPerson(name); }),
relation === "friend" ? row("alias", "edit", contact.alias ? t("changeAlias") : t("setAlias"), () => changeAlias(state, name, contact)) : null,
relation === "friend" ? row("remove", "person", t("removeContact"), async () => {
if (await confirm(t("removeContactQuestion", { name: shown }), { yes: t("remove"), dangerous: true })) attempt(state.removeContact(name));
}) : null,
relation === undefined ? row("add", "personAdd", t("addContact"), () => askForContact(app, name)) : null,
relation === "asking" ? row("back", "undo", t("takeBackRequest"), () => takeBack(state, name)) : null,
relation === "blocked" ? row("unblock", "shield", t("unblock"), () => attempt(state.unblock(name)))
: row("block", "shield", t("block"), async () => {
if (await confirm(t("blockQuestion", { name: shown }), { yes: t("block"), dangerous: true })) attempt(state.block(name));
}, "danger"),
row("report", "warning", t("report"), () => app.report({ user: name }), "danger"));
}

async function changeAlias(state, name, { alias = "", user }) {
const text = await ask(t("alias"), { value: alias, hint: t("aliasHint", { name: user.nick ?? name }), maxlength: LONGEST_ALIAS });
if (text !== null && text.trim() !== alias) attempt(state.setAlias(name, text.trim()));
}

function pickImage(state) {
return new Promise((resolve) => {
const input = h("input", { type: "file", accept: "image/*" });
input.addEventListener("cancel", () => resolve(null));
input.addEventListener("change", async () => resolve(input.files[0] ? await attempt(uploadSquare(state, input.files[0])) : null));
input.click();
});
}

async function uploadSquare(state, file) {
const bitmap = await createImageBitmap(file).catch(() => { throw Object.assign(new Error(), { code: "bad_request", message: t("notAPicture") }); });
const side = Math.min(bitmap.width, bitmap.height);
const size = Math.min(512, side);
const canvas = h("canvas", { width: size, height: size });
canvas.getContext("2d").drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side, 0, 0, size, size);
bitmap.close();
const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.88));
return (await state.upload(blob)).blob;
}
return { openProfile, pickImage };
})();
const $views_details = (() => {

const { h, replace, Scope } = $views_dom;
const { icon } = $views_icons;
const { addMembers } = $views_addmembers;
const { headAvatar } = $views_avatar;
const { LinkList } = $views_links;
const { openMedia } = $views_mediabrowser;
const { MemberPane } = $views_members;
const { chooseMute } = $views_conversationmenu;
const { deleteForAll, leave } = $views_leaving;
const { ask } = $views_dialog;
const { groupSettings } = $views_groupsettings;
const { lookalikeNote } = $views_lookalike;
const { pickImage } = $views_profile;
const { openMenu } = $views_menu;
const { attempt } = $views_toast;
const { headTitle, isAdmin, isGroup, isMuted, permits, userName } = $views_model;
const { lastSeen, shortDate, span } = $i18n_format;
const { t } = $i18n_index;

class DetailsView {
#scope = new Scope();

constructor(app, id) {
this.app = app;
this.state = app.state;
this.id = id;
this.body = h("div", { class: "scroller" });
this.closer = h("button", { type: "button", class: "icon-button", "aria-label": t("close"), onclick: () => app.toggleDetails(false) }, icon("close"));
this.element = h("aside", { class: "pane details", "aria-label": t("chatInfo") }, h("header", { class: "bar" }, this.closer, h("h2", {}, t("chatInfo"))), this.body);
this.#scope.add(this.state.subscribe(`conversation:${id}`, () => this.#update()));
for (const key of ["presence", "contacts"]) this.#scope.add(this.state.subscribe(key, () => this.head?.kind === "pair" && this.#update()));
this.#update();
this.#load();
}

focus() {
this.closer.focus({ preventScroll: true });
}

close() {
this.closed = true;
this.members?.close();
this.#scope.close();
this.element.remove();
}

async #load() {
if (!isGroup(this.head)) return;
try {
this.info = await this.state.info(this.id);
} catch (error) {
console.warn(error);
}
if (!this.closed) this.#update();
}

#update() {
const head = this.state.conversation(this.id);
if (!head || this.closed) return;
if (this.head && (this.head.seq !== head.seq) && isGroup(head) && head.last?.kind === "conversation.set" && this.head.last?.seq !== head.last.seq) this.#load();
this.head = head;
const joined = !head.state || head.state === "joined";
this.top ??= h("div", {});
const focused = this.top.contains(document.activeElement) ? document.activeElement.dataset.action : null;
replace(this.top, this.#hero(head), h("div", { class: "actions" }, this.#actions(head, joined)), this.#about(head));
if (focused) this.top.querySelector(`[data-action="${focused}"]`)?.focus({ preventScroll: true });
if (!this.top.isConnected) this.body.append(this.top);
if (!isGroup(head)) return;
if (joined && !this.members) {
this.members = new MemberPane(this.app, head);
this.foot = h("div", {});
this.body.append(this.members.element, this.foot);
} else if (!joined && this.members) {
this.members.close();
this.members.element.remove();
this.foot.remove();
this.members = this.links = null;
}
this.members?.updateHead(head);
if (this.members) this.#showFoot(head);
}

#hero(head) {
const peer = head.kind === "pair" ? this.state.user(head.peer?.name) ?? head.peer : null;
const count = isGroup(head) ? t(head.kind === "channel" ? "subscribers" : "membersCount", { n: head.members ?? 0 }) : "";
return h("div", { class: "hero" }, headAvatar(this.state, head, { size: "xl" }), h("h2", {}, headTitle(this.state, head)),
h("div", { class: "sub" }, peer ? `@${peer.name}` : count),
peer && (peer.online || peer.last_seen) ? h("div", { class: `small ${peer.online ? "is-online" : "muted"}` }, peer.online ? t("online") : lastSeen(peer.last_seen)) : null,
peer ? lookalikeNote(this.state, peer.name) : null);
}

#about(head) {
const peer = head.kind === "pair" ? this.state.user(head.peer?.name) ?? head.peer : null;
const about = peer ? peer.status : this.info?.about;
const { expire, slow } = head.settings ?? {};
const facts = [expire ? t("disappearingOn", { time: span(expire) }) : null, slow && isGroup(head) ? t("slowOn", { time: span(slow) }) : null,
this.info?.created_at ? (this.info.by ? t("createdBy", { name: userName(this.state, this.info.by), time: shortDate(this.info.created_at) }) : t("createdAt", { time: shortDate(this.info.created_at) })) : null].filter(Boolean);
return [about ? h("div", { class: "block" }, h("h3", {}, t(peer ? "statusText" : "groupAbout")), h("p", { class: "about" }, about)) : null,
facts.length ? h("div", { class: "block small muted" }, facts.map((fact) => h("p", {}, fact))) : null];
}

#actions(head, joined) {
const { app, state } = this;
const action = (name, symbol, label, run) => h("button", { type: "button", class: "action", "data-action": name, onclick: run }, icon(symbol), label);
const set = (values) => attempt(state.setOwn(head.conv, values));
const isOpenGroup = isGroup(head) && joined;
return [
head.state === "invited" || head.state === "requested" ? null : isMuted(head) ? action("mute", "bell", t("unmute"), () => set({ muted_until: 0 })) : action("mute", "bellOff", t("mute"), () => chooseMute(set, head)),
head.state === "invited" || head.state === "requested" ? null : action("search", "search", t("search"), () => app.search({ conv: head.conv })),
head.state === "invited" || head.state === "requested" ? null : action("media", "picture", t("media"), () => openMedia(app, head.conv)),
head.kind === "pair" && head.peer ? action("profile", "person", t("profile"), () => app.openProfile(head.peer.name)) : null,
isOpenGroup && permits(head, "manage", "admins") ? action("edit", "edit", t("edit"), (event) => this.#editMenu(event.currentTarget)) : null,
isOpenGroup && isAdmin(head) ? action("settings", "settings", t("settings"), () => groupSettings(state, this.head)) : null,
isOpenGroup && permits(head, "invite") ? action("add", "personAdd", t("addShort"), () => addMembers(app, this.id)) : null,
];
}

#editMenu(anchor) {
const set = (values) => attempt(this.state.setConversation(this.id, values)).then(() => this.#load());
openMenu(anchor, [
{ icon: "edit", label: t("groupTitle"), run: async () => { const title = await ask(t("groupTitle"), { value: this.head.title ?? "", maxlength: 100 }); if (title?.trim()) set({ title: title.trim() }); } },
{ icon: "quote", label: t("groupAbout"), run: async () => { const about = await ask(t("groupAbout"), { value: this.info?.about ?? "", lines: 4 }); if (about !== null) set({ about: about.trim() }); } },
{ icon: "picture", label: t("changePicture"), run: async () => { const blob = await pickImage(this.state); if (blob) set({ avatar: blob }); } },
this.head.avatar && { icon: "trash", label: t("removePicture"), danger: true, run: () => set({ avatar: "" }) },
], { label: t("edit") });
}

#showFoot(head) {
const key = `${isAdmin(head)}|${head.role}|${head.kind}`;
if (this.footKey === key && this.foot.isConnected) return;
this.footKey = key;
const isChannel = head.kind === "channel";
const row = (symbol, label, run) => h("button", { type: "button", class: "action-row danger", onclick: run }, icon(symbol), label);
replace(this.foot, isAdmin(head) ? new LinkList(this.state, this.id).element : null,
h("div", { class: "block action-list" },
row("leave", t(isChannel ? "leaveChannel" : "leave"), () => leave(this.app, this.head)),
row("warning", t("report"), () => this.app.report({ conv: this.id })),
head.role === "owner" ? row("trash", t("deleteForAll"), () => deleteForAll(this.app, this.head)) : null));
}
}
return { DetailsView };
})();
const $views_directory = (() => {

const { h } = $views_dom;
const { headAvatar } = $views_avatar;
const { openDialog, whenClosed } = $views_dialog;
const { searchField } = $views_pickers;
const { RowList } = $views_rows;
const { attempt, toast } = $views_toast;
const { errorText, userName } = $views_model;
const { t } = $i18n_index;

const count = (entry) => t(entry.kind === "channel" ? "subscribers" : "membersCount", { n: entry.members ?? 0 });
const isMember = (state, conv) => { const head = state.conversation(conv); return Boolean(head) && (!head.state || head.state === "joined"); };

function openDirectory(app) {
const { state } = app;
const { input, element } = searchField(t("search"));
let entries = [];
let page;
let request = 0;
let loading = false;
const status = h("p", { class: "empty", role: "status" }, t("loading"));
const rows = new RowList({
label: t("explore"), className: "people", estimate: 66, search: input, key: (entry) => entry.conv,
render: (entry) => h("button", { type: "button", class: "row compact" }, headAvatar(state, entry, { size: "m" }),
h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, entry.title), h("span", { class: "sub ellipsis" }, [count(entry), entry.about].filter(Boolean).join(" · "))),
isMember(state, entry.conv) ? h("span", { class: "role" }, t("isJoined")) : state.conversation(entry.conv)?.state === "requested" ? h("span", { class: "role" }, t("isRequested")) : null),
choose: (entry) => { dialog.close(); openEntry(app, entry); },
onend: () => more(),
});
rows.element.append(status);
const more = async () => {
if (loading || page === null) return;
const current = request;
loading = true;
try {
const answer = await state.directory(input.value.trim(), page);
if (current !== request) return;
const known = new Set(entries.map(({ conv }) => conv));
entries = [...entries, ...(answer.conversations ?? []).filter(({ conv }) => !known.has(conv))];
page = answer.page ?? null;
status.textContent = t(input.value.trim() ? "noResults" : "noPublicChats");
} catch (error) {
if (current !== request) return;
page = null;
status.textContent = errorText(error);
} finally {
if (current === request) loading = false;
}
status.hidden = entries.length > 0;
rows.setRows(entries);
};
const show = () => {
request += 1;
loading = false;
entries = [];
page = undefined;
more();
};
let timer = 0;
input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 200); });
const dialog = openDialog(t("explore"), [h("div", { class: "pad" }, h("p", { class: "small muted" }, t("exploreHint")), element), rows.element], { label: "tall", onclose: () => { request += 1; rows.close(); } });
show();
}

function openEntry(app, entry) {
if (isMember(app.state, entry.conv)) app.openConversation(entry.conv);
else showEntry(app, entry, { conv: entry.conv });
}

function showEntry(app, entry, where) {
const { state } = app;
const isRequested = where.conv && state.conversation(where.conv)?.state === "requested";
const join = h("button", { type: "button", class: "button primary wide", autofocus: true, disabled: isRequested, onclick: async () => {
join.disabled = true;
const answer = await attempt(state.join(where));
join.disabled = false;
if (!answer?.head) return;
dialog.close();
if (answer.head.state === "requested") toast(t("requested"));
else app.openConversation(answer.head.conv);
} }, t(isRequested ? "isRequested" : entry.join === "approval" ? "askToJoin" : "join"));
const dialog = openDialog(t(entry.kind === "channel" ? "channel" : "group"), h("div", { class: "dialog-body" },
h("div", { class: "profile-head" }, headAvatar(state, { ...entry, conv: entry.conv ?? where.link, link: where.link }, { size: "xl" }), h("h2", {}, entry.title), h("div", { class: "muted" }, count(entry)),
entry.by ? h("p", { class: "small muted" }, t("linkInvites", { name: entry.by.nick ?? userName(state, entry.by.name) })) : null),
entry.about ? h("p", { class: "about" }, entry.about) : null,
entry.join === "approval" && !isRequested ? h("p", { class: "small muted" }, t("approvalHint")) : null, join));
}

async function openLink(app, code) {
try {
const entry = await app.state.linkInfo(code);
await whenClosed();
showEntry(app, entry, { link: code });
} catch (error) {
toast(error.code === "not_found" ? t("linkEnded") : errorText(error), { role: "alert", seconds: 8 });
}
}
return { openDirectory, openLink };
})();
const $views_folders = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { ask, confirm, openDialog, switchRow } = $views_dialog;
const { openMenu } = $views_menu;
const { attempt, toast } = $views_toast;
const { t } = $i18n_index;

const MOST = 20;
const LONGEST = 30;
const FILTERS = { unread: "unread", people: "people", groups: "groups", channels: "channels" };

const folderNames = (state) => (state.settings?.folders ?? []).filter(({ filter }) => !filter).map(({ name }) => name);

const inFolder = (head, name) => head.own?.folders?.includes(name) ?? false;

function put(state, head, name, on) {
const others = (head.own?.folders ?? []).filter((each) => each !== name);
return state.setOwn(head.conv, { folders: on ? [...others, name] : others });
}

function foldersPage({ state }, page) {
const list = h("ul", {});
const name = h("input", { class: "input", maxlength: String(LONGEST), "aria-label": t("folderName"), placeholder: t("folderName") });
const filter = h("select", { class: "input", "aria-label": t("folderFilter") }, [["", t("folderChosen")], ...Object.entries(FILTERS).map(([key, label]) => [key, t(label)])].map(([key, label]) => h("option", { value: key }, label)));
const show = () => replace(list, (state.settings?.folders ?? []).map((folder) => h("li", { class: "option-row" }, icon("bookmark"),
h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, folder.name), h("div", { class: "small muted" }, t(FILTERS[folder.filter] ?? "folderChosen"))),
h("button", { type: "button", class: "icon-button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `${t("more")}${t("colon")}${folder.name}`, onclick: (event) => folderMenu({ state }, event.currentTarget, folder.name, () => {}) }, icon("more")))));
const form = h("form", { class: "input-pair", onsubmit: async (event) => {
event.preventDefault();
const text = name.value.trim();
if (!text) return name.focus();
if (await add(state, text, filter.value || undefined)) name.value = "";
} }, name, filter, h("button", { type: "submit", class: "button" }, icon("plus"), t("newFolder")));
page.append(h("p", { class: "small muted" }, t("foldersHint")), list, form);
show();
return state.subscribe("settings", show);
}

function chooseFolders(app, conv) {
const { state } = app;
const list = h("div", {});
const input = h("input", { class: "input", maxlength: String(LONGEST), "aria-label": t("folderName"), placeholder: t("folderName"), autofocus: true });
const show = () => replace(list, folderNames(state).map((name) =>
switchRow(name, inFolder(state.conversation(conv), name), async (on) => (await attempt(put(state, state.conversation(conv), name, on))) !== undefined)));
const form = h("form", { class: "input-pair", onsubmit: async (event) => {
event.preventDefault();
const name = input.value.trim();
if (!name || !(await add(state, name))) return;
input.value = "";
await attempt(put(state, state.conversation(conv), name, true));
} }, input, h("button", { type: "submit", class: "button", "aria-label": t("newFolder") }, icon("plus"), t("newFolder")));
const ends = [state.subscribe("settings", show), state.subscribe(`conversation:${conv}`, show)];
openDialog(t("folders"), h("div", { class: "dialog-body" }, list, form), { onclose: () => { for (const end of ends) end(); } });
show();
}

async function add(state, name, filter) {
const folders = state.settings?.folders ?? [];
if (folders.some((each) => each.name === name)) return true;
if (folders.length >= MOST) {
toast(t("folderLimit", { n: MOST }), { role: "alert" });
return false;
}
return (await attempt(state.setSettings({ folders: [...folders, { name, ...(filter && { filter }) }] }))) !== undefined;
}

function folderMenu({ state }, anchor, name, moved) {
const set = (folders) => attempt(state.setSettings({ folders }));
const change = async (to) => {
const folders = state.settings?.folders ?? [];
const after = to === null ? folders.filter((each) => each.name !== name) : folders.map((each) => (each.name === name ? { ...each, name: to } : each));
if (await set(after) === undefined) return;
for (const head of state.conversations({ filter: "everything" }).filter((each) => inFolder(each, name))) {
const others = head.own.folders.filter((each) => each !== name);
await attempt(state.setOwn(head.conv, { folders: to === null ? others : [...others, to] }));
}
moved(to);
};
openMenu(anchor, [
{ icon: "edit", label: t("rename"), run: async () => {
const to = (await ask(t("rename"), { label: t("folderName"), value: name }))?.trim().slice(0, LONGEST);
if (to && to !== name && !folderNames(state).includes(to)) change(to);
} },
{ icon: "trash", label: t("deleteFolder"), danger: true, run: async () => {
if (await confirm(t("deleteFolderQuestion", { name }), { yes: t("delete"), dangerous: true })) change(null);
} },
], { label: name });
}
return { folderNames, foldersPage, chooseFolders, folderMenu };
})();
const $views_locationdialog = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { openDialog } = $views_dialog;
const { coordinatesOf, coordinatesText, sketch } = $views_place;
const { t } = $i18n_index;

const numberOf = (text) => (/^\s*[+-]?\d+([.,]\d+)?\s*$/.test(text) ? Number(text.replace(",", ".")) : null);

function coordinatesIn(text) {
const found = text.match(/^\s*([+-]?\d{1,3}(?:\.\d+)?)\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d+)?)\s*$/);
return found ? [found[1], found[2]] : null;
}

function shareLocation() {
return new Promise((resolve) => {
let content = null;
let accuracy = 0;
const field = (label) => h("input", { class: "input", inputmode: "decimal", maxlength: "40", placeholder: label });
const [latitude, longitude] = [field("54.3233"), field("10.1228")];
const name = h("input", { class: "input", maxlength: "100" });
const preview = h("div", { class: "place-preview", role: "status" });
const send = h("button", { type: "submit", class: "button primary", disabled: true }, t("send"));
const own = h("button", { type: "button", class: "button wide", autofocus: true, hidden: !navigator.geolocation, onclick: () => locate() }, icon("pinPlace"), t("myLocation"));
const note = h("p", { class: "form-error", role: "alert" });

const read = () => coordinatesOf({ latitude: numberOf(latitude.value), longitude: numberOf(longitude.value), accuracy });
const update = () => {
const at = read();
send.disabled = !at;
for (const [input, limit] of [[latitude, 90], [longitude, 180]]) {
const value = numberOf(input.value);
input.setAttribute("aria-invalid", String(input.value.trim() !== "" && (value === null || Math.abs(value) > limit)));
}
replace(preview, at ? [sketch(at), h("p", { class: "small muted" }, coordinatesText(at))] : null);
};
const typed = () => {
accuracy = 0;
update();
};
const locate = () => {
own.disabled = true;
note.textContent = "";
navigator.geolocation.getCurrentPosition(({ coords }) => {
own.disabled = false;
[latitude.value, longitude.value] = [coords.latitude.toFixed(6), coords.longitude.toFixed(6)];
accuracy = Math.round(Math.min(1_000_000, coords.accuracy || 0));
update();
send.focus();
}, ({ code }) => {
own.disabled = false;
note.textContent = t(code === 1 ? "locationRefused" : "locationFailed");
}, { timeout: 15_000, enableHighAccuracy: true });
};
for (const input of [latitude, longitude]) {
input.addEventListener("input", typed);
input.addEventListener("paste", (event) => {
const both = coordinatesIn(event.clipboardData?.getData("text") ?? "");
if (!both) return;
event.preventDefault();
[latitude.value, longitude.value] = both;
typed();
});
}
const form = h("form", { onsubmit: (event) => {
event.preventDefault();
const at = read();
if (!at) return;
content = { kind: "location", body: { latitude: at.latitude, longitude: at.longitude, ...(at.accuracy && { accuracy: at.accuracy }), ...(name.value.trim() && { name: name.value.trim() }) } };
dialog.close();
} },
h("div", { class: "dialog-body" }, own, note, h("div", { class: "input-pair" }, h("label", { class: "field grow" }, t("latitude"), latitude), h("label", { class: "field grow" }, t("longitude"), longitude)), h("label", { class: "field" }, t("placeName"), name), preview),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
const dialog = openDialog(t("attachLocation"), form, { onclose: () => resolve(content), label: "scrolls" });
});
}
return { coordinatesIn, shareLocation };
})();
const $views_pagedpeople = (() => {

const { h } = $views_dom;
const { userAvatar } = $views_avatar;
const { RowList } = $views_rows;
const { attempt } = $views_toast;
const { actorName } = $views_model;
const { number } = $i18n_format;
const { t } = $i18n_index;

class PagedPeople {
#rows = [];
#page;
#isLoading = false;
#version = 0;

constructor(app, label, load) {
this.state = app.state;
this.load = load;
this.list = new RowList({
label, className: "people", estimate: 56, key: (row) => row.key, choose: ({ user }) => app.openProfile(user), onend: () => this.#more(),
render: ({ user, end }) => h("button", { type: "button", class: "row compact" }, userAvatar(this.state, this.state.user(user), { size: "m" }),
h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, actorName(this.state, user)), h("span", { class: "sub ellipsis" }, `@${user}`)), end),
});
this.empty = h("p", { class: "empty", hidden: true }, t("none"));
this.list.element.append(this.empty);
}

get element() { return this.list.element; }
close() { this.list.close(); }

restart() {
this.#version += 1;
this.#rows = [];
this.#page = undefined;
this.#isLoading = false;
this.list.setRows([]);
return this.#more();
}

async #more() {
if (this.#isLoading || this.#page === null) return;
this.#isLoading = true;
const version = this.#version;
const answer = await attempt(this.load(this.#page));
if (version !== this.#version) return;
this.#page = answer?.page ?? null;
this.#rows.push(...(answer?.rows ?? []));
this.#isLoading = false;
this.empty.hidden = this.#rows.length > 0;
this.list.setRows([...this.#rows]);
}
}

function partChips(label, parts, choose) {
const element = h("div", { class: "chips pad", role: "group", "aria-label": label });
const show = (key) => {
for (const chip of element.children) chip.setAttribute("aria-pressed", String(chip.dataset.key === String(key ?? "")));
choose(key);
};
element.append(...parts.map(({ key, label: text, name, count }) =>
h("button", { type: "button", class: "chip ellipsis", "data-key": key ?? "", autofocus: key === undefined, "aria-label": name, onclick: () => show(key) }, text, " ", number(count))));
return { element, show };
}
return { PagedPeople, partChips };
})();
const $views_messagedialogs = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { openDialog } = $views_dialog;
const { PagedPeople, partChips } = $views_pagedpeople;
const { attempt } = $views_toast;
const { eventText, permits, userName } = $views_model;
const { renderText } = $text_render;
const { shortDate } = $i18n_format;
const { t } = $i18n_index;

function showReactions(app, conv, row) {
const counts = row.reactions ?? [];
let chosen;
const people = new PagedPeople(app, t("whoReacted"), async (page) => {
const answer = await app.state.reactions(conv, row.seq, { key: chosen, page });
return { page: answer.page, rows: answer.reactions.map(({ user, key }) => ({ key: `${user} ${key}`, user, end: h("span", { class: "face" }, key) })) };
});
const total = counts.reduce((sum, { count }) => sum + count, 0);
const parts = counts.map(({ key, count }) => ({ key, label: key, name: t("reactionLabel", { emoji: key, n: count }), count }));
const chips = partChips(t("reactions"), [{ label: t("all"), count: total }, ...parts], (key) => {
chosen = key;
people.restart();
});
openDialog(t("whoReacted"), [chips.element, people.element], { onclose: () => people.close() });
chips.show();
}

function showReaders(app, conv, seq) {
const { state } = app;
const status = h("div", { class: "section-title small muted", role: "status" });
const counts = { read: 0, received: 0 };
const people = new PagedPeople(app, t("readBy"), async (page) => {
const answer = await state.readers(conv, seq, page);
for (const { read } of answer.readers) counts[read ? "read" : "received"] += 1;
status.textContent = t("readCount", { n: counts.read, all: (state.conversation(conv)?.members ?? 1) - 1 });
return { page: answer.page, rows: answer.readers.map(({ user, read }) => ({ key: user, user, end: h("span", { class: "small muted" }, t(read ? "statusRead" : "statusDelivered")) })) };
});
openDialog(t("readBy"), [status, people.element], { onclose: () => people.close() });
people.restart();
}

async function showEdits(app, conv, seq) {
const { state } = app;
const edits = await attempt(state.edits(conv, seq));
if (!edits) return;
const version = ({ at, body }, index) => h("div", { class: "version" }, h("div", { class: "small muted" }, shortDate(at), index === edits.length - 1 ? ` · ${t("firstVersion")}` : null),
h("div", { class: "text" }, renderText(body.text ?? "", body.entities, { me: state.account?.name, open: (name) => app.openProfile(name) })));
openDialog(t("editHistory"), h("div", { class: "dialog-body versions", tabindex: "0" }, edits.length ? edits.map(version) : h("p", { class: "muted" }, t("none"))));
}

function showPins(view) {
const { state, id } = view;
const list = h("div", { class: "pins", role: "list", "aria-label": t("pinnedMessages") });
const row = (seq, event) => h("div", { class: "option-row", role: "listitem" },
h("button", { type: "button", class: "row compact grow", "data-pin": seq, onclick: () => { dialog.close(); view.actions.jump(seq); } },
event?.sender ? userAvatar(state, state.user(event.sender), { size: "m" }) : icon("pin"),
h("span", { class: "lines" }, h("span", { class: "title ellipsis" }, event?.sender ? userName(state, event.sender) : t("message")), h("span", { class: "sub ellipsis" }, event ? eventText(state, event) : t(event === null ? "hidden" : "loading")))),
permits(view.head, "pin", "admins") ? h("button", { type: "button", class: "icon-button", "aria-label": t("unpin"), title: t("unpin"), onclick: () => attempt(state.pin(id, seq, true)) }, icon("close")) : null);
const show = () => {
const pins = state.conversation(id)?.pins ?? [];
const focused = list.contains(document.activeElement);
replace(list, pins.map((seq) => row(seq, state.event(id, seq))));
if (pins.length === 0) dialog.close();
else if (focused) list.querySelector("button").focus();
};
const dialog = openDialog(t("pinnedMessages"), list, { onclose: () => { for (const end of ends) end(); } });
const ends = [`thread:${id}`, `conversation:${id}`].map((key) => state.subscribe(key, show));
show();
list.querySelector("button")?.focus();
}
return { showReactions, showReaders, showEdits, showPins };
})();
const $views_newchat = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { openDialog, selectRow, switchRow } = $views_dialog;
const { PeopleList, personRow } = $views_pickers;
const { showRequests } = $views_requests;
const { attempt, toast } = $views_toast;
const { userName } = $views_model;
const { list } = $i18n_format;
const { t } = $i18n_index;

function newChat(app) {
const people = new PeopleList(app, { choose: (user) => { dialog.close(); app.openPerson(user.name); } });
const other = (name, label, run) => h("button", { type: "button", class: "row compact", onclick: () => { dialog.close(); run(); } }, h("span", { class: "avatar size-m symbol" }, icon(name)), h("span", { class: "title" }, label));
const others = h("div", {},
other("group", t("newGroup"), () => newGroup(app, "group")), other("megaphone", t("newChannel"), () => newGroup(app, "channel")), other("globe", t("explore"), () => app.explore()));
people.field.input.addEventListener("input", () => { others.hidden = people.field.input.value.trim() !== ""; });
const dialog = openDialog(t("newChat"), [
h("div", { class: "pad" }, people.field.element), others, people.rows.element,
], { label: "tall", onclose: () => people.close() });
people.show();
}

function newGroup(app, kind = "group") {
const { state } = app;
const settings = kind === "channel" ? { join: "open", listed: true } : { join: "closed", listed: false };
const picked = new Map();
const chips = h("div", { class: "picked" });
const title = h("input", { class: "input", name: "title", maxlength: "100", placeholder: t("groupTitle"), "aria-label": t("groupTitle") });
const about = h("input", { class: "input", name: "about", maxlength: "1000", placeholder: t("groupAbout"), "aria-label": t("groupAbout") });
const error = h("p", { class: "form-error", role: "alert" });
const people = new PeopleList(app, {
label: t("addMembers"),
choose: (user) => {
if (!picked.delete(user.name)) picked.set(user.name, user);
showChips();
people.refresh();
},
render: (user) => personRow(state, user, { chosen: picked.has(user.name) }),
signature: (user) => String(picked.has(user.name)),
exclude: (user) => user.name === state.account?.name,
});
const showChips = () => replace(chips, [...picked.values()].map((user) => h("button", { type: "button", "aria-label": `${t("remove")}: ${userName(state, user.name)}`, onclick: () => {
picked.delete(user.name);
showChips();
people.refresh();
people.field.input.focus();
} }, userAvatar(state, user, { size: "s" }), userName(state, user.name), icon("close"))));
const create = h("button", { type: "submit", class: "button primary" }, t(kind === "channel" ? "createChannel" : "createGroup"));
const submit = async (event) => {
event.preventDefault();
error.textContent = title.value.trim() ? "" : t("fieldRequired");
title.setAttribute("aria-invalid", String(!title.value.trim()));
if (!title.value.trim()) return title.focus();
create.disabled = true;
const answer = await attempt(state.createGroup({ kind, title: title.value.trim(), about: about.value.trim() || undefined, users: [...picked.keys()], settings }));
create.disabled = false;
if (!answer) return;
dialog.close();
if (answer.invited?.length) toast(t("wereInvited", { users: list(answer.invited.map((name) => userName(state, name))) }));
app.openConversation(answer.head.conv);
};
const dialog = openDialog(t(kind === "channel" ? "newChannel" : "newGroup"), h("form", { class: "dialog-form", onsubmit: submit }, [
h("div", { class: "pad" }, title, error, about,
h("div", { class: "rows" }, selectRow(t("joining"), settings.join, [["closed", t("joinClosed")], ["approval", t("joinApproval")], ["open", t("joinOpen")]], (value) => { settings.join = value; }),
switchRow(t("listed"), settings.listed, (on) => { settings.listed = on; })),
people.field.element, chips),
people.rows.element, h("div", { class: "dialog-foot" }, create)]), { label: "tall", onclose: () => people.close() });
people.field.input.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
title.focus();
people.show();
}

function showContacts(app) {
const { state } = app;
const people = new PeopleList(app, { choose: (user) => app.openProfile(user.name), empty: { title: t("noContacts"), hint: t("noContactsHint") } });
const requests = h("div", { class: "requests" });
people.rows.element.prepend(requests);
const show = () => {
showRequests(app, requests);
people.show();
};
const end = state.subscribe("contacts", show);
people.field.input.addEventListener("input", () => { requests.hidden = people.field.input.value.trim() !== ""; });
openDialog(t("contacts"), [h("div", { class: "pad" }, people.field.element), people.rows.element], { label: "tall", onclose: () => { end(); people.close(); } });
show();
}
return { newChat, newGroup, showContacts };
})();
const $views_report = (() => {

const { h } = $views_dom;
const { openDialog } = $views_dialog;
const { submitting } = $views_fields;
const { attempt, toast } = $views_toast;
const { userName } = $views_model;
const { t } = $i18n_index;

const REASONS = { spam: "reasonSpam", abuse: "reasonAbuse", violence: "reasonViolence", illegal: "reasonIllegal", impersonation: "reasonImpersonation", other: "reasonOther" };
const LONGEST = 1000;

function report(app, { conv, seqs, user }) {
const { state } = app;
const error = h("p", { class: "form-error", role: "alert" });
const text = h("textarea", { class: "input", rows: "3", maxlength: String(LONGEST) });
const send = h("button", { type: "submit", class: "button dangerous" }, t("report"));
const reasons = h("fieldset", { class: "group" }, h("legend", {}, t("reportReason")), Object.entries(REASONS).map(([reason, label]) =>
h("label", { class: "choice" }, h("input", { type: "radio", name: "reason", value: reason }), t(label))));
const form = h("form", { onsubmit: submitting(send, async () => {
const reason = new FormData(form).get("reason");
if (!reason) {
error.textContent = t("chooseReason");
reasons.querySelector("input").focus();
return;
}
if (await attempt(state.report({ conv, seqs, user, reason, text: text.value.trim() })) === undefined) return;
dialog.close();
toast(t("reported"));
}) },
h("div", { class: "dialog-body" }, h("p", { class: "small muted" }, t("reportHint")), reasons, error, h("label", { class: "field" }, t("reportText"), text)),
h("div", { class: "dialog-foot" }, h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, t("cancel")), send));
const dialog = openDialog(user ? t("reportNamed", { name: userName(state, user) }) : t("report"), form, { label: "scrolls" });
reasons.querySelector("input").focus();
}
return { report };
})();
const $views_scheduled = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { scheduleTime } = $views_compose;
const { openDialog } = $views_dialog;
const { attempt, toast } = $views_toast;
const { errorText, eventText } = $views_model;
const { shortDate } = $i18n_format;
const { t } = $i18n_index;

function showScheduled(app, conv) {
const { state } = app;
const body = h("div", { class: "dialog-body" });
const button = (name, label, run, danger) => h("button", { type: "button", class: `icon-button${danger ? " danger" : ""}`, "aria-label": label, title: label, onclick: run }, icon(name));

const move = async ({ id, kind, body: content, ref, thread, silent, send_at: before }) => {
const at = await scheduleTime(Math.max(before, Date.now() + 60_000));
if (at === null) return;
if (await attempt(state.schedule(conv, { kind, body: content, ref, thread, silent }, at)) === undefined) return;
await attempt(state.unschedule(id));
toast(t("scheduledFor", { time: shortDate(at) }));
show();
};

const sendNow = async ({ id, kind, body: content, ref, thread, silent }) => {
if (await attempt(state.unschedule(id)) === undefined) return;
await attempt(state.send(conv, { kind, body: content, ref, thread, silent }));
show();
};

const row = (message) => h("div", { class: "option-row scheduled", "data-scheduled": message.id },
h("span", { class: "lines" }, h("div", { class: "ellipsis" }, eventText(state, message)),
message.error ? h("div", { class: "small danger", role: "alert" }, t("failedReason", { reason: errorText({ code: message.error }) })) : null,
h("div", { class: "small muted" }, t("scheduledFor", { time: shortDate(message.send_at) }), message.silent ? ` · ${t("sendSilently")}` : "")),
button("send", t("sendNow"), () => sendNow(message)), button("clock", t("changeTime"), () => move(message)),
button("trash", t("delete"), async () => { await attempt(state.unschedule(message.id)); show(); }, true));

const show = async () => {
const messages = await attempt(state.scheduled(conv));
if (messages && body.isConnected) replace(body, messages.length ? messages.map(row) : h("p", { class: "muted" }, t("none")));
if (document.activeElement === document.body) body.closest("dialog")?.querySelector("button")?.focus();
};
openDialog(t("scheduled"), body);
show();
}
return { showScheduled };
})();
const $views_searchfilters = (() => {

const { h } = $views_dom;
const { chooseConversation, choosePerson } = $views_pickers;
const { headTitle, userName } = $views_model;
const { t } = $i18n_index;

const DAY = 86_400_000;
const OTHER = "\u0000";
const KINDS = [["text", "messages"], ["image", "picture"], ["video", "video"], ["audio", "audio"], ["file", "file"], ["poll", "poll"], ["location", "location"], ["card", "contactCard"], ["bundle", "bundle"]];

function choice(label, choices, change, other) {
const box = h("select", { class: "input", "aria-label": label });
let chosen = choices[0][0];
const show = () => {
box.replaceChildren(...[...choices, ...(other ? [[OTHER, t("chooseOther")]] : [])].map(([value, text]) => h("option", { value }, text)));
box.value = chosen;
};
box.addEventListener("change", async () => {
if (box.value === OTHER) {
const found = await other();
if (found && !choices.some(([value]) => value === found[0])) choices.push(found);
if (found) [chosen] = found;
} else chosen = box.value;
show();
change(chosen);
});
show();
return box;
}

function searchFilters(app, conv, change) {
return [placeFilter(app, conv, change), senderFilter(app, change), kindFilter(change), ...timeFilter(change)];
}

function placeFilter(app, conv, change) {
const { state } = app;
const first = conv ? [[conv, t("here")], ["", t("everywhere")]] : [["", t("everywhere")]];
return choice(t("filterChat"), first, (value) => change({ conv: value || null }), async () => {
const found = await chooseConversation(app, t("filterChat"));
return found ? [found.conv, headTitle(state, state.conversation(found.conv))] : null;
});
}

function senderFilter(app, change) {
const { state } = app;
return choice(t("filterFrom"), [["", t("anyPerson")], [state.account?.name ?? "", t("you")]], (value) => change({ sender: value || undefined }), async () => {
const user = await choosePerson(app, t("filterFrom"));
return user ? [user.name, userName(state, user.name)] : null;
});
}

function kindFilter(change) {
return choice(t("filterKind"), [["", t("anyKind")], ...KINDS.map(([kind, name]) => [kind, t(name)])], (value) => change({ kinds: value ? [value] : undefined }));
}

function timeFilter(change) {
const field = (label) => h("input", { type: "date", class: "input", "aria-label": label });
const [from, until] = [field(t("fromDay")), field(t("untilDay"))];
const days = h("div", { class: "input-pair days", hidden: true }, from, until);
const between = () => change({ from_at: startOf(from.value), until_at: startOf(until.value, 1) });
for (const input of [from, until]) input.addEventListener("change", between);
const box = choice(t("filterWhen"), [["0", t("anyTime")], ["1", t("lastDay")], ["7", t("lastWeek")], ["30", t("lastMonth")], ["365", t("lastYear")], ["days", t("betweenDays")]], (value) => {
days.hidden = value !== "days";
if (value === "days") between();
else change({ from_at: value === "0" ? undefined : Date.now() - Number(value) * DAY, until_at: undefined });
});
return [box, days];
}

function startOf(value, after = 0) {
if (!value) return undefined;
const [year, month, day] = value.split("-").map(Number);
return new Date(year, month - 1, day + after).getTime() - after;
}
return { searchFilters };
})();
const $views_accountpages = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { confirm } = $views_dialog;
const { password, refusedPassword, submitting } = $views_fields;
const { attempt, toast } = $views_toast;
const { byName, errorText, userName } = $views_model;
const { fullDate, listTime } = $i18n_format;
const { t } = $i18n_index;

function sessionsPage(app, page) {
const { state } = app;
const body = h("div", { class: "dialog-fields" }, h("p", { class: "muted" }, t("loading")));
page.append(body);
const show = async () => {
const devices = await state.sessions().catch((error) => { replace(body, h("p", { class: "form-error", role: "alert" }, errorText(error))); });
if (!devices || !body.isConnected) return;
const current = devices.find((each) => each.current);
const others = devices.filter((each) => !each.current).sort((one, other) => other.last_seen - one.last_seen);
replace(body, h("h3", {}, t("thisDevice")), current ? row(current) : null,
others.length ? h("button", { type: "button", class: "button dangerous", onclick: async () => {
if (!(await confirm(t("endOtherSessions"), { yes: t("endOtherSessions"), dangerous: true, detail: t("endOthersHint") }))) return;
if (await attempt(state.endOtherSessions()) !== undefined) toast(t("othersEnded"));
show();
} }, icon("leave"), t("endOtherSessions")) : h("p", { class: "small muted" }, t("noOtherSessions")),
others.length ? [h("h3", {}, t("otherSessions")), h("ul", {}, others.map((device) => h("li", {}, row(device))))] : null);
};
const row = (device) => h("div", { class: "option-row" }, h("span", { class: "avatar size-m symbol" }, icon("device")),
h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, device.name),
h("div", { class: "small muted", title: t("signedInAt", { time: fullDate(device.at) }) }, [device.current ? t("online") : t("lastActive", { time: listTime(device.last_seen) }), device.address].filter(Boolean).join(" · "))),
device.current ? null : h("button", { type: "button", class: "button small quiet danger", "aria-label": `${t("endSession")}${t("colon")}${device.name}`, onclick: async () => {
if (await attempt(state.endSession(device.device)) !== undefined) toast(t("sessionEnded", { name: device.name }), { seconds: 3 });
show();
} }, t("endSession")));
show();
}

function blockedPage(app, page) {
const { state } = app;
const body = h("div", {});
const show = () => {
const blocked = state.contacts("blocked").sort(byName(state));
replace(body, blocked.length ? h("ul", {}, blocked.map(({ user }) => h("li", { class: "option-row" }, userAvatar(state, user, { size: "m" }),
h("span", { class: "lines" }, h("div", { class: "title ellipsis" }, userName(state, user.name)), h("div", { class: "small muted" }, `@${user.name}`)),
h("button", { type: "button", class: "button small quiet", "aria-label": `${t("unblock")}${t("colon")}${userName(state, user.name)}`, onclick: () => attempt(state.unblock(user.name)) }, t("unblock")))))
: h("p", { class: "muted" }, t("noBlocked")));
};
page.append(h("p", { class: "small muted" }, t("blockedHint")), body);
show();
return state.subscribe("contacts", show);
}

function accountPage(app, page) {
const { state } = app;
const [proof, proofField] = password(t("password"), "current-password");
const error = h("p", { class: "form-error", role: "alert" });
const remove = h("button", { type: "submit", class: "button dangerous" }, icon("trash"), t("deleteAccountDo"));
const save = h("button", { type: "button", class: "button", onclick: async () => {
save.disabled = true;
await attempt(exportData(state.account.name));
save.disabled = false;
} }, icon("download"), t("exportData"));
page.append(
h("section", { class: "dialog-fields" }, h("h3", {}, t("exportData")), h("p", { class: "small muted" }, t("exportHint")), save),
h("section", { class: "dialog-fields" }, h("h3", {}, t("signOut")), h("p", { class: "small muted" }, t("signOutHint")), h("button", { type: "button", class: "button", onclick: () => app.signOut() }, icon("leave"), t("signOut"))),
...[insecureNote()].filter(Boolean),
h("form", { class: "dialog-fields", onsubmit: submitting(remove, async () => {
error.textContent = "";
if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
if (!(await confirm(t("deleteAccount"), { yes: t("deleteAccountDo"), dangerous: true, detail: t("deleteAccountQuestion", { name: `@${state.account.name}` }) }))) return;
try {
await state.deleteAccount(proof.value);
toast(t("accountDeleted"), { seconds: 10 });
} catch (refusal) {
refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
}
}) }, h("h3", {}, t("deleteAccount")), h("p", { class: "small muted" }, t("deleteAccountHint")), proofField, error, remove));
}

async function exportData(name) {
const response = await fetch("/api/account/export", { credentials: "same-origin", cache: "no-store" }).catch(() => { throw Object.assign(new Error(), { code: "offline" }); });
if (!response.ok) {
const { error } = await response.json().catch(() => ({}));
throw Object.assign(new Error(error?.message), { ...error, code: response.status === 404 ? "unsupported" : error?.code ?? "internal", retryAfter: error?.retry_after });
}
const address = URL.createObjectURL(await response.blob());
const type = response.headers.get("Content-Type") ?? "";
h("a", { href: address, download: `${name}${type.includes("zip") ? ".zip" : ".json"}` }).click();
setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function insecureNote() {
if (globalThis.isSecureContext) return null;
return h("section", { class: "dialog-fields" }, h("h3", {}, t("insecure")), h("div", { class: "notice-line" }, icon("lock"), h("span", {}, t("insecureHint"))));
}
return { sessionsPage, blockedPage, accountPage, insecureNote };
})();
const $views_notificationsettings = (() => {

const { h } = $views_dom;
const { insecureNote } = $views_accountpages;
const { switchRow } = $views_dialog;
const { playSound } = $views_sound;
const { attempt, toast } = $views_toast;
const { canPush, subscribePush, unsubscribePush } = $state_push;
const { t } = $i18n_index;

const EVENING = 22 * 60;
const MORNING = 7 * 60;

function notificationsPage(app, page) {
const { state, preferences } = app;
const isSecure = globalThis.isSecureContext && "Notification" in globalThis;
const granted = () => isSecure && Notification.permission === "granted";
const ask = async () => {
if (granted()) return true;
const answer = await Notification.requestPermission();
if (answer === "denied") toast(t("notificationsDenied"), { role: "alert" });
return answer === "granted";
};
page.append(...[insecureNote()].filter(Boolean),
switchRow(t("notificationsDesktop"), granted() && preferences.desktop, async (on) => {
if (on && !(await ask())) return false;
app.setPreference("desktop", on);
return true;
}, { disabled: !isSecure, detail: isSecure ? Notification.permission === "denied" ? t("notificationsDenied") : null : t("notificationsHTTPS") }),
switchRow(t("notificationsPush"), granted() && preferences.push && canPush(state), async (on) => {
if (on && !(await ask())) return false;
const done = await attempt((on ? subscribePush(state) : unsubscribePush(state)).then(() => true));
if (done) app.setPreference("push", on);
return Boolean(done);
}, { disabled: !canPush(state), detail: t(canPush(state) ? "notificationsPushHint" : "notificationsPushMissing") }),
switchRow(t("notificationsPreview"), preferences.preview, (on) => app.setPreference("preview", on)),
switchRow(t("notificationsSound"), preferences.sound, (on) => { app.setPreference("sound", on); if (on) playSound(); }),
...quietHours(state));
}

function quietHours(state) {
const { quiet_from: begin, quiet_until: end } = state.settings ?? {};
const offset = new Date().getTimezoneOffset();
const turn = (minutes) => ((minutes % 1440) + 1440) % 1440;
const text = (minutes) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
const isOn = begin !== undefined && begin !== end;
const field = (value, otherwise) => h("input", { type: "time", class: "input", value: text(isOn ? turn(value - offset) : otherwise) });
const [from, until] = [field(begin, EVENING), field(end, MORNING)];
const times = h("div", { class: "search-filters", hidden: !isOn }, h("label", { class: "field grow" }, t("quietFrom"), from), h("label", { class: "field grow" }, t("quietUntil"), until));
const minutes = (input) => {
const [hours, rest] = input.value.split(":").map(Number);
return turn(hours * 60 + rest + offset);
};
const save = (on) => attempt(state.setSettings(on ? { quiet_from: minutes(from), quiet_until: minutes(until) } : { quiet_from: 0, quiet_until: 0 }));
const changed = () => {
const isEmpty = from.value === until.value;
for (const input of [from, until]) input.setAttribute("aria-invalid", String(isEmpty));
if (!isEmpty && from.value && until.value) save(true);
};
for (const input of [from, until]) input.addEventListener("change", changed);
return [switchRow(t("quietHours"), isOn, async (on) => {
if ((await save(on)) === undefined) return false;
times.hidden = !on;
return true;
}, { detail: t("quietHint") }), times];
}
return { notificationsPage };
})();
const $text_qrcode = (() => {

const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
const LEVEL_M = 0;

const MASKS = [
(x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
(x, y) => ((x * y) % 2) + ((x * y) % 3), (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

function qrcode(text) {
const data = new TextEncoder().encode(text);
const version = CORRECTION.findIndex((_, index) => data.length + (index + 1 < 10 ? 2 : 3) <= capacity(index + 1)) + 1;
if (version === 0) return null;
const codewords = interleaved(encoded(data, version), version);
let best = null;
for (let mask = 0; mask < MASKS.length; mask += 1) {
const rows = drawn(version, codewords, mask);
const score = penalty(rows);
if (!best || score < best.score) best = { rows, score };
}
return best.rows;
}

function capacity(version) {
return (modules(version) >> 3) - CORRECTION[version - 1] * BLOCKS[version - 1];
}

function modules(version) {
const count = Math.floor(version / 7) + 2;
const patterns = version === 1 ? 0 : (25 * count - 10) * count - 55;
return (16 * version + 128) * version + 64 - patterns - (version >= 7 ? 36 : 0);
}

function encoded(data, version) {
const bits = [];
const add = (value, length) => { for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1); };
add(4, 4);
add(data.length, version < 10 ? 8 : 16);
for (const byte of data) add(byte, 8);
const length = capacity(version) * 8;
add(0, Math.min(4, length - bits.length));
while (bits.length % 8) bits.push(0);
for (let pad = 0xec; bits.length < length; pad ^= 0xec ^ 0x11) add(pad, 8);
return Array.from({ length: length / 8 }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8).join(""), 2));
}

function interleaved(data, version) {
const count = BLOCKS[version - 1];
const correction = CORRECTION[version - 1];
const generator = divisor(correction);
const short = Math.floor(data.length / count);
const blocks = [];
for (let index = 0, start = 0; index < count; index += 1) {
const length = short + (index >= count - (data.length % count) ? 1 : 0);
const part = data.slice(start, (start += length));
blocks.push({ part, rest: remainder(part, generator) });
}
const found = [];
for (let index = 0; index <= short; index += 1) for (const { part } of blocks) if (index < part.length) found.push(part[index]);
for (let index = 0; index < correction; index += 1) for (const { rest } of blocks) found.push(rest[index]);
return found;
}

function product(one, other) {
let result = 0;
for (let bit = 7; bit >= 0; bit -= 1) result = ((result << 1) ^ ((result >> 7) * 0x11d)) ^ (((other >> bit) & 1) * one);
return result;
}

function divisor(degree) {
const found = [...Array(degree - 1).fill(0), 1];
for (let step = 0, root = 1; step < degree; step += 1, root = product(root, 2)) {
for (let index = 0; index < degree; index += 1) found[index] = product(found[index], root) ^ (found[index + 1] ?? 0);
}
return found;
}

function remainder(data, generator) {
const found = Array(generator.length).fill(0);
for (const byte of data) {
const factor = byte ^ found.shift();
found.push(0);
generator.forEach((value, index) => { found[index] ^= product(value, factor); });
}
return found;
}

function drawn(version, codewords, mask) {
const size = version * 4 + 17;
const rows = Array.from({ length: size }, () => Array(size).fill(null));
const set = (x, y, dark) => { if (rows[y]?.[x] !== undefined) rows[y][x] = Boolean(dark); };
const ring = (cx, cy, radius, isDark) => {
for (let dy = -radius; dy <= radius; dy += 1) for (let dx = -radius; dx <= radius; dx += 1) set(cx + dx, cy + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
};
for (let index = 0; index < size; index += 1) { set(6, index, index % 2 === 0); set(index, 6, index % 2 === 0); }
for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) ring(x, y, 4, (distance) => distance !== 2 && distance !== 4);
const places = alignment(version, size);
const last = places.length - 1;
places.forEach((x, i) => places.forEach((y, j) => {
if (!((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0))) ring(x, y, 2, (distance) => distance !== 1);
}));
describe(set, size, version, mask);
fill(rows, size, codewords, MASKS[mask]);
return rows;
}

function alignment(version, size) {
if (version === 1) return [];
const count = Math.floor(version / 7) + 2;
const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
return [6, ...Array.from({ length: count - 1 }, (_, index) => size - 7 - index * step).reverse()];
}

function describe(set, size, version, mask) {
const format = (LEVEL_M << 3) | mask;
let rest = format;
for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
const bits = ((format << 10) | rest) ^ 0x5412;
const bit = (index) => (bits >> index) & 1;
for (let index = 0; index < 6; index += 1) set(8, index, bit(index));
set(8, 7, bit(6)); set(8, 8, bit(7)); set(7, 8, bit(8));
for (let index = 9; index < 15; index += 1) set(14 - index, 8, bit(index));
for (let index = 0; index < 8; index += 1) set(size - 1 - index, 8, bit(index));
for (let index = 8; index < 15; index += 1) set(8, size - 15 + index, bit(index));
set(8, size - 8, true);
if (version < 7) return;
rest = version;
for (let step = 0; step < 12; step += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
const all = (version << 12) | rest;
for (let index = 0; index < 18; index += 1) {
const [far, near] = [size - 11 + (index % 3), Math.floor(index / 3)];
set(far, near, (all >> index) & 1); set(near, far, (all >> index) & 1);
}
}

function fill(rows, size, codewords, mask) {
let index = 0;
for (let right = size - 1, upward = true; right > 0; right -= 2, upward = !upward) {
if (right === 6) right = 5;
for (let step = 0; step < size; step += 1) {
const y = upward ? size - 1 - step : step;
for (const x of [right, right - 1]) {
if (rows[y][x] !== null) continue;
const bit = ((codewords[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;
rows[y][x] = Boolean(bit) !== (mask(x, y) === 0);
index += 1;
}
}
}
}

function penalty(rows) {
const size = rows.length;
let score = 0;
let dark = 0;
for (let line = 0; line < size; line += 1) {
for (const at of [(index) => rows[line][index], (index) => rows[index][line]]) {
let text = "";
for (let index = 0; index < size; index += 1) text += at(index) ? "1" : "0";
for (const run of text.match(/1{5,}|0{5,}/g) ?? []) score += run.length - 2;
for (let index = 0; index + 11 <= size; index += 1) if (/^(10111010000|00001011101)$/.test(text.slice(index, index + 11))) score += 40;
}
for (let index = 0; index < size; index += 1) {
if (rows[line][index]) dark += 1;
if (line > 0 && index > 0 && rows[line][index] === rows[line - 1][index] && rows[line][index] === rows[line][index - 1] && rows[line][index] === rows[line - 1][index - 1]) score += 3;
}
}
return score + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}
return { qrcode };
})();
const $views_security = (() => {

const { h, replace, svg } = $views_dom;
const { password, refusedPassword, submitting } = $views_fields;
const { errorText } = $views_model;
const { toast } = $views_toast;
const { qrcode } = $text_qrcode;
const { t } = $i18n_index;

const SHORTEST = 8;

function securityPage(app, page) {
page.append(passwordForm(app.state), totpForm(app.state), recoveryForm(app));
}

function passwordForm(state) {
const [old, oldField] = password(t("currentPassword"), "current-password");
const [fresh, freshField] = password(t("newPassword"), "new-password");
const error = h("p", { class: "form-error", role: "alert" });
const save = h("button", { type: "submit", class: "button primary" }, t("changePassword"));
return h("form", { class: "dialog-fields", onsubmit: submitting(save, async () => {
error.textContent = "";
if (!old.value) return refusedPassword(error, old, t("fieldRequired"));
if ([...fresh.value].length < SHORTEST) return refusedPassword(error, fresh, t("passwordHint"));
try {
await state.changePassword({ old: old.value, password: fresh.value });
} catch (refusal) {
const isWrong = ["unauthorized", "forbidden"].includes(refusal.code);
return refusedPassword(error, isWrong ? old : fresh, isWrong ? t("passwordWrong") : errorText(refusal));
}
old.value = fresh.value = "";
toast(t("passwordChanged"));
}) }, h("h3", {}, t("changePassword")), oldField, freshField, h("span", { class: "small muted" }, t("passwordHint"), h("br"), t("passwordEnds")), error, save);
}

function recoveryForm(app) {
const [proof, proofField] = password(t("currentPassword"), "current-password");
const error = h("p", { class: "form-error", role: "alert" });
const make = h("button", { type: "submit", class: "button" }, t("newRecoveryCodes"));
return h("form", { class: "dialog-fields", onsubmit: submitting(make, async () => {
error.textContent = "";
if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
try {
app.showRecovery(await app.state.recoveryCodes(proof.value));
proof.value = "";
} catch (refusal) {
refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
}
}) }, h("h3", {}, t("recoveryCodes")), h("p", { class: "small muted" }, t("recoveryCodesHint")), proofField, error, make);
}

function totpForm(state) {
const [proof, proofField] = password(t("currentPassword"), "current-password");
const error = h("p", { class: "form-error", role: "alert" });
const button = h("button", { type: "submit", class: "button" });
const body = h("div", { class: "dialog-fields" }, error);
let hasTotp;
const start = async () => {
try {
hasTotp = await state.hasTotp();
} catch (refusal) {
error.textContent = errorText(refusal);
return;
}
button.textContent = t(hasTotp ? "totpRemove" : "totpSetUp");
button.classList.toggle("quiet", hasTotp);
replace(body, proofField, error, button);
};
const restart = async () => {
await start();
proof.focus();
};
const begin = async () => {
error.textContent = "";
if (!proof.value) return refusedPassword(error, proof, t("fieldRequired"));
try {
if (hasTotp) await state.removeTotp(proof.value);
else {
const { secret, uri } = await state.makeTotp(proof.value);
replace(body, ...secretStep(state, secret, uri, restart));
body.querySelector("input").focus({ preventScroll: true });
body.querySelector("svg")?.scrollIntoView({ block: "nearest" });
}
proof.value = "";
} catch (refusal) {
if (refusal.code === "conflict") await start();
return refusedPassword(error, proof, refusal.code === "forbidden" ? t("passwordWrong") : errorText(refusal));
}
if (!hasTotp) return;
toast(t("totpRemoved"));
await restart();
};
start();
return h("form", { class: "dialog-fields", onsubmit: submitting(button, begin) }, h("h3", {}, t("totp")), h("p", { class: "small muted" }, t("totpHint")), body);
}

function secretStep(state, secret, uri, done) {
const code = h("input", { class: "input", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "10", id: "totp-code" });
const error = h("p", { class: "form-error", role: "alert" });
const confirm = async () => {
error.textContent = "";
try {
await state.confirmTotp(code.value.replace(/\s/g, ""));
toast(t("totpOn"));
done();
} catch (refusal) {
error.textContent = refusal.code === "forbidden" || refusal.code === "bad_request" ? t("wrongCode") : errorText(refusal);
code.select();
}
};
const button = h("button", { type: "button", class: "button primary", onclick: confirm }, t("confirm"));
code.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); confirm(); } });
return [
h("p", {}, t("totpScan")), picture(uri),
h("p", { class: "small muted" }, t("totpType")), h("pre", { class: "codes", tabindex: "0" }, secret.replace(/(.{4})(?=.)/g, "$1 ")),
/^otpauth:/.test(uri) ? h("a", { class: "link", href: uri }, t("totpOpen")) : null,
h("label", { class: "field" }, t("code"), code), error, button,
];
}

function picture(uri) {
const rows = qrcode(uri);
if (!rows) return null;
const path = rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
return svg("svg", { class: "qrcode", viewBox: `0 0 ${rows.length + 8} ${rows.length + 8}`, role: "img", "aria-label": t("qrcode"), "shape-rendering": "crispEdges" }, svg("path", { d: path }));
}
return { securityPage };
})();
const $views_settings = (() => {

const { h, replace } = $views_dom;
const { icon } = $views_icons;
const { userAvatar } = $views_avatar;
const { accountPage, blockedPage, sessionsPage } = $views_accountpages;
const { openDialog, selectRow, switchRow } = $views_dialog;
const { submitting } = $views_fields;
const { foldersPage } = $views_folders;
const { notificationsPage } = $views_notificationsettings;
const { pickImage } = $views_profile;
const { securityPage } = $views_security;
const { attempt, toast } = $views_toast;
const { LANGUAGE_NAMES, t } = $i18n_index;

const PAGES = {
profile: ["person", profilePage], appearance: ["sun", appearancePage], notifications: ["bell", notificationsPage], privacy: ["shield", privacyPage],
folders: ["bookmark", foldersPage], sessions: ["device", sessionsPage], security: ["key", securityPage], blocked: ["block", blockedPage], account: ["settings", accountPage],
};

function openSettings(app, first = null) {
const page = h("div", { class: "page", role: "tabpanel", tabindex: "-1" });
const tabs = h("nav", { role: "tablist", "aria-label": t("settings"), "aria-orientation": "vertical" });
let end = null;
const show = (name, focus = false) => {
end?.();
for (const tab of tabs.children) {
const chosen = tab.dataset.page === name;
tab.setAttribute("aria-selected", String(chosen));
tab.tabIndex = chosen ? 0 : -1;
if (chosen && focus) tab.focus();
}
page.setAttribute("aria-label", t(name));
replace(page, h("div", { class: "page-head" }, h("button", { type: "button", class: "icon-button only-narrow", "aria-label": t("back"), onclick: () => list() }, icon("back")), h("h2", {}, t(name))));
const made = PAGES[name][1](app, page, dialog);
end = typeof made === "function" ? made : null;
page.scrollTop = 0;
};
for (const [name, [symbol]] of Object.entries(PAGES)) {
tabs.append(h("button", { type: "button", role: "tab", "data-page": name, onclick: () => { show(name); frame.classList.add("has-page"); focusPage(); } }, icon(symbol), h("span", { class: "grow" }, t(name)), icon("chevron")));
}
tabs.addEventListener("keydown", (event) => {
const names = Object.keys(PAGES);
const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
if (!step) return;
event.preventDefault();
show(names[(names.indexOf(document.activeElement.dataset.page) + step + names.length) % names.length], true);
});
const narrow = matchMedia("(max-width: 720px)");
const list = () => {
frame.classList.remove("has-page");
tabs.querySelector("[aria-selected=true]").focus();
};
const focusPage = () => { if (narrow.matches) page.querySelector(".icon-button").focus(); };
const frame = h("div", { class: `settings${first ? " has-page" : ""}` }, tabs, page);
const dialog = openDialog(t("settings"), frame, { wide: true, label: "settings-dialog", onclose: () => end?.() });
show(first ?? "profile");
tabs.querySelector("[aria-selected=true]").focus();
if (first) focusPage();
}

function profilePage(app, page) {
const { state } = app;
const user = state.account;
const face = h("span", {}, userAvatar(state, user, { size: "xl" }));
const removal = h("button", { type: "button", class: "button quiet danger", hidden: !user.avatar, onclick: () => setPicture("") }, icon("trash"), t("removePicture"));
const setPicture = async (avatar) => {
if (await attempt(state.setProfile({ avatar })) === undefined) return;
replace(face, userAvatar(state, { ...state.account, avatar: avatar || undefined }, { size: "xl" }));
removal.hidden = !avatar;
toast(t("saved"), { seconds: 2 });
};
const nick = h("input", { class: "input", value: user.nick ?? "", maxlength: "50", autocomplete: "nickname" });
const status = h("input", { class: "input", value: user.status ?? "", maxlength: "100" });
const save = h("button", { type: "submit", class: "button primary" }, t("save"));
page.append(h("div", { class: "profile-head" }, face, h("div", { class: "muted" }, `@${user.name}`),
h("div", { class: "button-row centered" }, h("button", { type: "button", class: "button", onclick: async () => {
const avatar = await pickImage(state);
if (avatar) setPicture(avatar);
} }, icon("picture"), t("changePicture")), removal)),
h("form", { class: "dialog-fields", onsubmit: submitting(save, async () => { if (await attempt(state.setProfile({ nick: nick.value.trim(), status: status.value.trim() })) !== undefined) toast(t("saved"), { seconds: 2 }); }) },
h("label", { class: "field" }, t("nick"), nick, h("span", { class: "small" }, t("nickHint"))), h("label", { class: "field" }, t("statusText"), status), save));
}

function choices(legend, value, options, change) {
const name = `choice-${legend}`;
return h("fieldset", { class: "group" }, h("legend", {}, legend), options.map(([key, label]) =>
h("label", { class: "choice" }, h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => change(key) }), label)));
}

function appearancePage(app, page, dialog) {
const { preferences } = app;
page.append(
choices(t("theme"), preferences.theme, [["system", t("system")], ["light", t("light")], ["dark", t("dark")]], (value) => app.setPreference("theme", value)),
choices(t("language"), preferences.language, [["system", t("system")], ...Object.entries(LANGUAGE_NAMES)], async (value) => {
dialog.close();
await app.setPreference("language", value);
app.owner.view.settings?.("appearance");
}),
switchRow(t("enterSends"), preferences.enterSends, (on) => app.setPreference("enterSends", on)));
}

function privacyPage(app, page) {
const { state } = app;
const settings = state.settings ?? {};
const levels = [["all", t("everyone")], ["contacts", t("contactsOnly")], ["none", t("nobody")]];
const set = (name) => (value) => attempt(state.setSettings({ [name]: value })).then((answer) => (answer === undefined ? false : undefined));
page.append(
selectRow(t("privacyLastSeen"), settings.last_seen ?? "contacts", levels, set("last_seen")),
selectRow(t("privacyAvatar"), settings.avatar ?? "all", levels, set("avatar")),
selectRow(t("privacyMessages"), settings.messages ?? "all", levels, set("messages")),
selectRow(t("privacyAdd"), settings.add ?? "contacts", levels, set("add")),
selectRow(t("privacyFind"), settings.find ?? "all", levels, set("find")),
switchRow(t("privacyReceipts"), settings.receipts ?? true, set("receipts")),
switchRow(t("privacyTyping"), settings.typing ?? true, set("typing")));
}
return { openSettings };
})();
const $views_votes = (() => {

const { h } = $views_dom;
const { openDialog } = $views_dialog;
const { PagedPeople, partChips } = $views_pagedpeople;
const { t } = $i18n_index;

const PAGES = 25;

async function loadVotes(state, conv, row) {
const latest = new Map();
const left = [...row.votes];
let before;
for (let page = 0; page < PAGES; page += 1) {
const { events } = await state.verb("history", { conv, before, limit: 200 });
for (const { seq, kind, ref, sender, body } of events.toReversed()) {
if (seq <= row.seq) return latest;
if (kind !== "vote" || ref !== row.seq || latest.has(sender)) continue;
latest.set(sender, body?.options ?? []);
for (const option of latest.get(sender)) left[option] -= 1;
}
if (events.length === 0 || left.every((count) => !(count > 0))) break;
before = events[0].seq;
}
return latest;
}

function showVotes(app, conv, row) {
const options = row.body.options ?? [];
const total = row.votes.reduce((sum, count) => sum + count, 0);
const status = h("div", { class: "section-title small muted", role: "status", hidden: true });
let chosen;
let votes;
const people = new PagedPeople(app, t("whoVoted"), async () => {
votes ??= await loadVotes(app.state, conv, row);
const all = [...votes].flatMap(([user, cast]) => cast.map((option) => ({ key: `${user} ${option}`, user, option })));
status.hidden = all.length >= total;
status.textContent = t("votesShown", { n: all.length, all: total });
return { rows: all.filter(({ option }) => chosen === undefined || option === chosen).map((each) => ({ ...each, end: h("span", { class: "small muted choice" }, options[each.option] ?? "") })) };
});
const parts = options.map((label, key) => ({ key, label, count: row.votes[key] ?? 0 }));
const chips = partChips(t("poll"), [{ label: t("all"), count: total }, ...parts], (key) => {
chosen = key;
people.restart();
});
openDialog(t("whoVoted"), [h("p", { class: "dialog-body" }, row.body.question ?? ""), chips.element, status, people.element], { onclose: () => people.close() });
chips.show();
}
return { showVotes };
})();
const $text_source = (() => {

const { ADDRESS, ADDRESS_END, parseMarkdown } = $text_markdown;

const MARKS = { bold: "**", italic: "*", underline: "__", strike: "~~", spoiler: "||", code: "`", pre: "```" };
const BLOCKS = new Set(["quote", "list"]);
const LITERAL = new Set(["code", "pre", "link", "mention", "all"]);
const LEVELS = ["", "\\*_~|`[", "\\*_~|`[:："];
const BLOCK = /^(?:[-*•>]|\d{1,3}[.)]) /;

function toMarkdown(text, entities = []) {
const body = trimmed(text, entities);
const source = exact(body, body.entities);
if (source !== undefined) return source;
const kept = expressible({ ...body, entities: joined(body) });
return exact(body, kept) ?? withMarks(body.scalars, kept, LEVELS[2]);
}

function trimmed(text, entities) {
const all = [...text];
const first = all.findIndex((scalar) => /\S/.test(scalar));
const end = all.findLastIndex((scalar) => /\S/.test(scalar)) + 1;
const scalars = [];
const places = all.map((scalar, at) => {
const isKept = first >= 0 && at >= first && at < end && !(scalar === "\r" && all[at + 1] === "\n");
return isKept ? scalars.push(scalar === "\r" ? "\n" : scalar) - 1 : scalars.length;
});
const place = (at) => places[at] ?? scalars.length;
const known = entities.filter(({ type, offset, length }) => (MARKS[type] || BLOCKS.has(type) || LITERAL.has(type)) && offset >= 0 && offset + length <= all.length)
.map((entity) => ({ ...entity, offset: place(entity.offset), length: place(entity.offset + entity.length) - place(entity.offset) }))
.filter(({ length }) => length > 0);
return { scalars, text: scalars.join(""), entities: known };
}

function exact({ scalars, text }, entities, levels = LEVELS) {
const names = (type) => entities.filter((entity) => entity.type === type).map((entity) => [slice(scalars, entity).slice(1).toLowerCase(), entity.user]);
const options = { mentions: new Map(names("mention")), all: new Set(["all", ...names("all").map(([name]) => name)]) };
const wanted = described(entities);
for (const escapes of levels) {
if (!escapes && text.includes("\\@")) continue;
const source = withMarks(scalars, entities, escapes);
const parsed = parseMarkdown(source, options);
if (parsed.text !== text) continue;
const found = parsed.entities.filter((entity) => entity.type !== "link" || entity.url !== slice(scalars, entity) || wanted.includes(described([entity])[0]));
if (described(found).join("\n") === wanted.join("\n")) return source;
}
return undefined;
}

function joined({ scalars, entities }) {
const found = [];
for (const entity of ordered(entities)) {
const isBlock = BLOCKS.has(entity.type);
const before = LITERAL.has(entity.type) ? undefined : found.find(({ type, offset, length }) =>
type === entity.type && (offset + length === entity.offset || (isBlock && offset + length + 1 === entity.offset && scalars[entity.offset - 1] === "\n")));
if (before) before.length = entity.offset + entity.length - before.offset;
else found.push({ ...entity });
}
return found;
}

function expressible(body) {
let kept = [];
const add = (entities) => {
const variants = [[...kept, ...entities]];
if (entities.length === 1) {
const [entity] = entities;
const touches = ({ offset, length }) => [offset, offset + length].some((at) => at === entity.offset || at === entity.offset + entity.length);
variants.push([...kept, { ...entity, isOther: true }], [...kept.map((each) => (touches(each) ? { ...each, isOther: true } : each)), entity]);
}
const found = variants.find((variant) => exact(body, variant, LEVELS.slice(-1)) !== undefined);
if (found) kept = found;
else if (entities.length > 1) {
const half = Math.ceil(entities.length / 2);
add(entities.slice(0, half));
add(entities.slice(half));
}
};
add(ordered(body.entities));
return kept;
}

const slice = (scalars, { offset, length }) => scalars.slice(offset, offset + length).join("");

const described = (entities) => entities.map(({ type, offset, length, url, user, language }) => JSON.stringify([type, offset, length, url, user, language || undefined])).sort();

function ordered(entities) {
const rank = ({ type }) => (BLOCKS.has(type) ? 0 : LITERAL.has(type) ? 2 : 1);
return [...entities].reverse().sort((one, other) => one.offset - other.offset || other.length - one.length || rank(one) - rank(other));
}

function withMarks(scalars, entities, escapes) {
const ends = [];
const begins = [];
const literal = new Set();
const items = new Set();
const isLineStart = (at) => at === 0 || scalars[at - 1] === "\n";
const put = (list, at, mark) => { list[at] = (list[at] ?? "") + mark; };
const inOrder = ordered(entities);
for (const entity of inOrder) {
const { type, offset, length, language, isOther } = entity;
const end = offset + length;
if (LITERAL.has(type)) for (let at = offset; at < end; at += 1) literal.add(at);
if (type === "pre") put(begins, offset, `\`\`\`${language ?? ""}\n`);
else if (MARKS[type]) put(begins, offset, type === "italic" && isOther ? "_" : MARKS[type]);
else if (isTitled(scalars, entity)) put(begins, offset, "[");
else if (BLOCKS.has(type)) {
for (let at = offset; at < end; at += 1) {
if (at > offset && !isLineStart(at)) continue;
if (type === "quote") put(begins, at, "> ");
else items.add(at);
}
}
}
for (const entity of inOrder.reverse()) {
const { type, offset, length, url, isOther } = entity;
if (type === "pre") put(ends, offset + length, "\n```");
else if (MARKS[type]) put(ends, offset + length, type === "italic" && isOther ? "_" : MARKS[type]);
else if (isTitled(scalars, entity)) put(ends, offset + length, `](${url})`);
}
const isBoundary = (at) => begins[at] !== undefined || ends[at] !== undefined;
for (let at = 0; at < scalars.length; at += 1) {
if (scalars[at] !== "h" && scalars[at] !== "H") continue;
const before = isBoundary(at) ? " " : scalars[at - 1] ?? " ";
ADDRESS.lastIndex = 0;
if (/\w/.test(before) && !escapes.includes(before) || !ADDRESS.test(scalars.slice(at, at + 9).join(""))) continue;
do literal.add(at++); while (at < scalars.length && !ADDRESS_END.test(scalars[at]) && !isBoundary(at));
at -= 1;
}
let escaped = -1;
const parts = scalars.map((scalar, at) => {
if (isLineStart(at)) {
const mark = items.has(at) ? null : BLOCK.exec(scalars.slice(at, at + 5).join(""))?.[0];
if (mark && !Array.from(mark, (_, index) => at + index).some((each) => isBoundary(each) || literal.has(each))) escaped = at + mark.length - 2;
}
const beginsName = scalar === "@" && /^[\p{L}\p{N}._-]/u.test(scalars[at + 1] ?? "")
&& (!/^[\p{Script=Latin}\p{N}]/u.test(scalars[at - 1] ?? "") || isBoundary(at));
const beginsQuote = scalar === ">" && escapes && isLineStart(at);
const isEscaped = !literal.has(at) && (at === escaped || beginsName || beginsQuote || escapes.includes(scalar));
return (ends[at] ?? "") + (begins[at] ?? "") + (isEscaped ? "\\" : "") + (items.has(at) && scalar === "•" ? "-" : scalar);
});
return parts.join("") + (ends[scalars.length] ?? "");
}

const isTitled = (scalars, entity) => entity.type === "link" && (entity.isOther || slice(scalars, entity) !== entity.url);
return { toMarkdown };
})();
const $views_panels = (() => {

const { addMembers } = $views_addmembers;
const { openAttachMenu } = $views_attachmenu;
const { CallScreen } = $views_callscreen;
const { recordVideo } = $views_camera;
const { newPoll, scheduleTime, shareContact } = $views_compose;
const { conversationMenu } = $views_conversationmenu;
const { DetailsView } = $views_details;
const { openDirectory, openLink } = $views_directory;
const { chooseFolders, folderMenu } = $views_folders;
const { chooseExpiry } = $views_groupsettings;
const { deleteForAll, leave } = $views_leaving;
const { shareLocation } = $views_locationdialog;
const { showEdits, showPins, showReaders, showReactions } = $views_messagedialogs;
const { newChat, newGroup, showContacts } = $views_newchat;
const { openProfile } = $views_profile;
const { report } = $views_report;
const { showScheduled } = $views_scheduled;
const { searchFilters } = $views_searchfilters;
const { openSettings } = $views_settings;
const { openViewer } = $views_viewer;
const { showVotes } = $views_votes;
const { toMarkdown } = $text_source;
return { addMembers, openAttachMenu, CallScreen, recordVideo, newPoll, scheduleTime, shareContact, conversationMenu, DetailsView, openDirectory, openLink, chooseFolders, folderMenu, chooseExpiry, deleteForAll, leave, shareLocation, showEdits, showPins, showReaders, showReactions, newChat, newGroup, showContacts, openProfile, report, showScheduled, searchFilters, openSettings, openViewer, showVotes, toMarkdown };
})();
return $views_panels;
};

"""#))

    private static let _sw_js = EmbeddedFile(path: "sw.js", content: .text(#"""
// The service worker: caches the page for use without a connection, and shows notifications.
//
// Only files of the page are cached. Responses of /api/ and /socket.io/ are never cached, so that
// no data of a user remains after a sign-out.

const CACHE = "apus-shell-1";
const WORDS = "apus-words"; // the texts of notifications, for pushes while the page is closed
const PRIVATE = /^\/(api|socket\.io|health|metrics)(\/|$)/;
const SHELL = /^\/(index\.html|join)?$/; // other paths of the server, such as /admin, do not belong to the page
const FIXED = /[.-][0-9a-f]{12,}\./; // a file name that contains the hash of the content
const NETWORK_TIME = 1500;
const SHELL_TIME = 150; // ms after which a cached page is shown if the network is slow
const ANSWER_TIME = 500;

self.addEventListener("install", (event) => event.waitUntil(newest("/").then(() => self.skipWaiting())));

self.addEventListener("activate", (event) => event.waitUntil(forgetOthers().then(() => self.clients.claim())));

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin || PRIVATE.test(url.pathname)) return;
  if (event.request.mode !== "navigate") event.respondWith(file(event.request));
  else if (SHELL.test(url.pathname)) event.respondWith(shell());
});

self.addEventListener("push", (event) => event.waitUntil(pushed(data(event.data)).then(showUnlessOpen)));

// The browser replaced the subscription.
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(subscribeAgain(event)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.conv));
});

// The page reports new messages while it is not focused, and conversations that were read, whose
// notifications are then closed.
self.addEventListener("message", (event) => {
  const { type, ...message } = event.data ?? {};
  if (type === "notify") event.waitUntil(noted(message, event.source));
  if (type === "read") event.waitUntil(closeNotifications(message.conv));
  if (type === "unread") event.waitUntil(closeRead(message.convs));
  if (type === "words") event.waitUntil(keepWords(message));
  if (type === "signedOut") event.waitUntil(Promise.all([closeNotifications(), unsubscribe(), caches.delete(WORDS)]));
});

async function forgetOthers() {
  for (const name of await caches.keys()) if (name !== CACHE && name !== WORDS) await caches.delete(name);
}

/** Returns the page from the network or, if the response takes longer than SHELL_TIME, from the cache. */
const shell = () => newest("/", SHELL_TIME);

const fixedFiles = (html) => [...html.matchAll(/(?:src|href|content)="([^"]+)"/g)].map(([, path]) => new URL(path, self.location).pathname).filter((path) => FIXED.test(path));

/**
 * Caches the files with a hash in their names that the page needs. Keeps those of the previous version,
 * which may still be open.
 */
async function keepFiles(cache, html) {
  const needed = fixedFiles(html);
  const former = fixedFiles((await (await cache.match("/"))?.text()) ?? "");
  const kept = (await cache.keys()).map((request) => new URL(request.url).pathname);
  for (const path of kept) if (FIXED.test(path) && !needed.includes(path) && !former.includes(path)) await cache.delete(path);
  await Promise.all(needed.filter((path) => !kept.includes(path)).map((path) => cache.add(path)));
}

/** Returns a file of the page. A file with a hash in its name never changes. */
async function file(request) {
  const isFixed = FIXED.test(new URL(request.url).pathname);
  return (isFixed && (await caches.match(request))) || newest(request);
}

async function newest(request, time = NETWORK_TIME) {
  const cache = await caches.open(CACHE);
  const cached = await cache.match(request);
  const fresh = fetch(request).then((response) => keep(cache, request, response));
  if (!cached) return fresh;
  return Promise.race([fresh.catch(() => cached), new Promise((done) => setTimeout(done, time, cached))]);
}

async function keep(cache, request, response) {
  if (!response.ok || response.type !== "basic") return response;
  if (request === "/") await keepFiles(cache, await response.clone().text()).catch((error) => console.warn("files:", error));
  await cache.put(request, response.clone());
  return response;
}

function data(message) {
  try { return message?.json() ?? {}; } catch { return {}; }
}

async function keepWords(words) {
  await (await caches.open(WORDS)).put("/words", new Response(JSON.stringify(words)));
}

async function keptWords() {
  try { return await (await caches.match("/words", { cacheName: WORDS }))?.json() ?? {}; } catch { return {}; }
}

/**
 * Returns a pushed message {conv, kind, sender, title, body, nick?, no_text?, count?, badge?} in the
 * language of the page, with the alias of the sender, and without its text if the user disabled
 * previews. In a group, the body begins with `nick`. `no_text`: the body contains only the kind of the
 * message. `count`: the number of requests to join.
 */
async function pushed({ kind, sender, nick, no_text: hasNoText, count, ...message }) {
  const { texts = {}, aliases = {}, preview = true, colon = ": " } = await keptWords();
  const { title, body = "" } = message;
  const said = nick ? body.slice(nick.length + 2) : body;
  if (kind === "join_request") {
    const name = preview && nick ? `${aliases[sender] ?? nick}${colon}` : "";
    return { ...message, tag: `${message.conv}/join`, body: count > 1 ? texts.joinRequests?.replace("{n}", count) ?? body : `${name}${texts.joinRequest ?? said}` };
  }
  const text = preview ? (hasNoText && texts[kind]) || said : texts.message ?? "New message";
  return { ...message, title: nick ? title : aliases[sender] ?? title, body: nick && preview ? `${aliases[sender] ?? nick}${colon}${text}` : text };
}

/**
 * Shows a message {conv, title, body, icon?, badge?, silent?}. Nothing is shown for a conversation that
 * a focused window of the page shows.
 */
async function showUnlessOpen({ conv, tag = conv, title, body, icon, silent, badge }) {
  if (badge !== undefined) await (badge > 0 ? navigator.setAppBadge?.(badge) : navigator.clearAppBadge?.())?.catch(() => {});
  // Another device has read the other messages. A request to join is not among the unread messages.
  if (badge <= (tag === conv ? 1 : 0)) await closeRead([conv]);
  if (await isShown(conv)) return;
  await self.registration.showNotification(title || "Apus", {
    body: body ?? "", tag, renotify: Boolean(conv) && !silent, silent: Boolean(silent), icon: icon ?? "/img/icon-192.png", data: { conv },
  });
}

/** Handles a message that the page reports. Shows a notification, and requests the sound from the page. */
async function noted({ show, sound, ...message }, page) {
  if (await isShown(message.conv)) return;
  if (sound) page?.postMessage({ type: "sound" });
  if (show) await showUnlessOpen({ ...message, silent: true });
}

/**
 * Returns whether a focused window shows the conversation. The windows are asked, because their known
 * addresses may be outdated.
 */
async function isShown(conv) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const answers = windows.filter((each) => each.focused).map((each) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    setTimeout(resolve, ANSWER_TIME, false);
    each.postMessage({ type: "shown", conv }, [port2]);
  }));
  return (await Promise.all(answers)).includes(true);
}

async function subscribeAgain({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options ?? newSubscription?.options;
  const subscription = newSubscription ?? (options && await self.registration.pushManager.subscribe(options));
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  const headers = { "Content-Type": "application/json" };
  await fetch("/api/chat/push.set", { method: "POST", headers, body: JSON.stringify({ id: crypto.randomUUID(), kind: "web", data: { endpoint, keys } }) });
}

async function unsubscribe() {
  await (await self.registration.pushManager?.getSubscription())?.unsubscribe();
}

/** Closes the notifications of a conversation, or all. */
async function closeNotifications(conv) {
  for (const each of await self.registration.getNotifications(conv ? { tag: conv } : {})) each.close();
}

/** Closes the notifications of all conversations without unread messages. */
async function closeRead(unread) {
  for (const each of await self.registration.getNotifications()) {
    // A request to join is not among the unread messages.
    if (each.tag && !each.tag.endsWith("/join") && !unread.includes(each.tag)) each.close();
  }
}

async function open(conv) {
  const address = conv ? `/#/c/${encodeURIComponent(conv)}` : "/";
  const windows = await self.clients.matchAll({ type: "window" });
  if (windows.length === 0) return self.clients.openWindow(address);
  await windows[0].focus();
  windows[0].postMessage({ type: "open", conv });
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
  <link rel="icon" href="img/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="css/test-c418217cb9644eda.css">
  <script type="module" src="js/test-af4dddca0b9caee9.js"></script>
</head>
<body>
  <header class="head">
    <img src="img/icon.svg" alt="" width="40" height="40">
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
        <button type="button" class="button primary" id="connect">Connect</button>
        <button type="button" class="button" id="disconnect" disabled>Disconnect</button>
      </div>
      <dl class="facts">
        <div><dt>Transport in use</dt><dd id="transport-in-use">–</dd></div>
        <div><dt>Socket id</dt><dd id="socket-id">–</dd></div>
        <div><dt>Packets in / out</dt><dd id="counts">0 / 0</dd></div>
      </dl>
      <h2>Events</h2>
      <label class="field"><span>Text</span><input class="input" id="text" value="Hello from the test page. 你好，雨燕！" autocomplete="off"></label>
      <div class="buttons two" id="actions">
        <button type="button" class="button" id="send-text" disabled>Send text</button>
        <button type="button" class="button" id="send-binary" disabled>Send binary</button>
        <button type="button" class="button" id="send-ack" disabled>Text with ack</button>
        <button type="button" class="button" id="send-binary-ack" disabled>Binary with ack</button>
        <button type="button" class="button wide" id="send-ten" disabled>Ten acks at once</button>
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
