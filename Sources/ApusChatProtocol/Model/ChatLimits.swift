/// The limits of the chat. The server enforces them, and sends the most important ones in the
/// answer to `hello`.
///
/// Lengths are in Unicode scalars (`[...text].length` in JavaScript).
public enum ChatLimits {
    // MARK: Frames
    /// The maximum size of a request, in bytes of JSON.
    package static let requestBytes = 128 * 1024
    /// The maximum size of an answer or a push, in bytes of JSON. Longer lists are sent in pages.
    package static let answerBytes = 256 * 1024
    /// The maximum number of pending requests of a connection.
    package static let pendingRequests = 64

    // MARK: Messages
    /// The maximum length of a text message.
    public static let textLength = 8_000
    /// The maximum length of a caption.
    public static let captionLength = 2_000
    /// The maximum number of entities of a text.
    public static let entities = 200
    /// The maximum number of users mentioned in one message.
    public static let mentions = 50
    /// The maximum size of the body of an application-defined or encrypted message, in bytes.
    public static let customBytes = 32 * 1024
    /// The maximum number of levels of arrays and objects in the body of an application-defined
    /// message. An answer nests the body deeper, and JSON readers limit the number of levels.
    package static let customLevels = 32
    /// The maximum number of uploads to which the body of an application-defined message can refer.
    package static let customBlobs = 20
    /// The maximum duration of a recording or a video, in milliseconds: one day.
    package static let mediaMilliseconds: Int64 = 86_400_000
    /// The maximum length of a file's name.
    public static let fileNameLength = 255
    /// The maximum number of options of a poll.
    public static let pollOptions = 20
    /// The maximum length of a poll's question.
    public static let questionLength = 300
    /// The maximum length of a poll's option.
    public static let optionLength = 100
    /// The maximum number of messages in a bundle and in one `forward`.
    public static let bundleMessages = 100
    /// The maximum number of different reactions to a message.
    public static let reactions = 20
    /// The maximum number of reactions of one user to a message.
    public static let ownReactions = 3
    /// The maximum length of a reaction.
    public static let reactionLength = 16
    /// The maximum number of pinned messages of a conversation.
    public static let pinnedMessages = 50
    /// The maximum length of the text in the preview of an event.
    package static let previewLength = 160
    /// The maximum number of users in the preview of an event.
    package static let previewUsers = 10
    /// The maximum number of scheduled messages of a user.
    public static let scheduledMessages = 100

    // MARK: Conversations
    /// The maximum number of conversations of an account.
    package static let conversations = 10_000
    /// The maximum number of members of a group.
    public static let groupMembers = 10_000
    /// The maximum number of members of a channel.
    public static let channelMembers = 100_000
    /// The maximum number of users named in one request.
    package static let requestUsers = 100
    /// The maximum number of members of a conversation in which members see the read positions of
    /// others.
    package static let receiptMembers = 100
    /// The maximum number of invite links of a conversation.
    package static let links = 20
    /// The maximum length of a title.
    public static let titleLength = 100
    /// The maximum length of a description.
    public static let aboutLength = 1_000
    /// The maximum value of the setting `slow`, in seconds.
    public static let slowSeconds: Int64 = 3_600
    /// The maximum value of the setting `expire`, in seconds: one year.
    public static let expireSeconds: Int64 = 31_536_000

    // MARK: Users
    /// The maximum length of an account name.
    public static let nameLength = 32
    /// The maximum length of a shown name and of an alias.
    public static let nickLength = 50
    /// The maximum length of a status text.
    public static let statusLength = 100
    /// The maximum number of contacts of a user.
    package static let contacts = 5_000
    /// The maximum number of blocked users of a user.
    package static let blockedUsers = 5_000
    /// The maximum number of invitations and contact requests that a user can send in a day.
    package static let invitationsPerDay = 50
    /// The maximum number of unanswered invitations of a user. Further invitations are omitted.
    package static let openInvitations = 200
    /// The maximum length of the text of a contact request.
    public static let contactTextLength = 200
    /// The maximum number of devices of a user.
    package static let devices = 20
    /// The maximum number of pinned conversations of a user.
    public static let pinnedConversations = 50
    /// The maximum number of folders of a user.
    public static let folders = 20
    /// The maximum length of a folder's name.
    public static let folderLength = 30
    /// The maximum length of a draft.
    public static let draftLength = 8_000
    /// The minimum length of a password.
    public static let passwordLength = 8
    /// The maximum length of a password in Unicode scalars, which bounds the input of the hash
    /// function.
    public static let longestPassword = 1_024

    // MARK: Pages
    /// The maximum number of events on a page.
    package static let historyEvents = 200
    /// The maximum number of heads on a page.
    package static let headsPage = 200
    /// The number of unpinned heads on the first page of a sync, in addition to the pinned ones.
    package static let newestHeads = 30
    /// The maximum number of members on a page.
    package static let membersPage = 100
    /// The maximum number of users, contacts or listed conversations on a page.
    package static let usersPage = 50
    /// The maximum number of hits on a page.
    package static let searchPage = 30
    /// The maximum length of a search text.
    public static let queryLength = 100
    /// The maximum number of conversations that a connection can subscribe to.
    package static let subscriptions = 20

    // MARK: Blobs
    /// The maximum size of an upload, in bytes, unless the server sets another maximum
    /// (`blob_bytes`).
    public static let blobBytes: Int64 = 100 * 1024 * 1024
    /// The maximum size of a file in a message, regardless of the limit of the server: 1 TiB.
    package static let fileBytes: Int64 = 1 << 40
    /// The maximum width and height of a picture, in pixels.
    public static let imageSide: Int64 = 16_384
    /// The maximum number of pixels of a picture.
    public static let imagePixels: Int64 = 40_000_000

    // MARK: Calls
    /// The time for which a call rings, in seconds.
    package static let ringSeconds: Int64 = 60
    /// The time after which an accepted call ends if none of its devices is connected, in seconds.
    package static let absenceSeconds: Int64 = 60
    /// The maximum number of devices that a call connects directly to each other.
    package static let meshDevices = 4
    /// The maximum number of members of a group that can call without a media server.
    package static let callMembers = 32
    /// The maximum number of members of a group that can call with a media server.
    package static let roomMembers = 500

    // MARK: Others

    /// The maximum length of the message of an error.
    package static let messageLength = 1_000
    /// The maximum size of the data of a `signal`, in bytes of JSON.
    package static let signalBytes = 16 * 1024
    /// The time for which the answer to a request that changes data is stored, in seconds: seven
    /// days.
    package static let answerSeconds: Int64 = 604_800
}
