public import ApusChatProtocol

/// A page of the reactions to a message.
public struct ReactionPage: Sendable, Hashable {
    /// The reactions of this page.
    public var reactions: [Reaction]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}

/// A page of the user's scheduled messages.
public struct ScheduledPage: Sendable, Hashable {
    /// The messages of this page.
    public var messages: [ScheduledMessage]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}

/// A page of the groups and channels that the directory lists.
public struct DirectoryPage: Sendable, Hashable {
    /// The conversations of this page.
    public var conversations: [DirectoryEntry]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}

/// A page of the contacts, requests and blocked users.
public struct ContactPage: Sendable, Hashable {
    /// The contacts of this page.
    public var contacts: [Contact]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}

/// A page of the users found by a search.
public struct UserPage: Sendable, Hashable {
    /// The users of this page.
    public var users: [ChatUser]
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}
