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
