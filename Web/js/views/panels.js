// The modules that the page loads after the list and the first chat: dialogs, settings, the
// details, menus, the viewer, the screen of calls.

export { addMembers } from "./addmembers.js";
export { openAttachMenu } from "./attachmenu.js";
export { CallScreen } from "./callscreen.js";
export { recordVideo } from "./camera.js";
export { newPoll, scheduleTime, shareContact } from "./compose.js";
export { conversationMenu } from "./conversationmenu.js";
export { DetailsView } from "./details.js";
export { openDirectory, openLink } from "./directory.js";
export { chooseFolders, folderMenu } from "./folders.js";
export { chooseExpiry } from "./groupsettings.js";
export { deleteForAll, leave } from "./leaving.js";
export { shareLocation } from "./locationdialog.js";
export { showEdits, showPins, showReaders, showReactions } from "./messagedialogs.js";
export { newChat, newGroup, showContacts } from "./newchat.js";
export { openProfile } from "./profile.js";
export { report } from "./report.js";
export { showScheduled } from "./scheduled.js";
export { searchFilters } from "./searchfilters.js";
export { openSettings } from "./settings.js";
export { openViewer } from "./viewer.js";
export { showVotes } from "./votes.js";
export { toMarkdown } from "../text/source.js";
