/// A change in a log, with the body of its kind.
public enum ChatChange: Hashable, Sendable {
    /// A message has a new body.
    case edit(EditBody)
    /// The preview of the first link of a text message was added, replaced or removed.
    case preview(PreviewBody)
    /// The body of a message was removed.
    case recall
    /// A reaction was added or removed.
    case react(ReactBody)
    /// The sender voted in a poll.
    case vote(VoteBody)
    /// A poll has ended.
    case pollClose
    /// A message was pinned or unpinned.
    case pin(PinBody)
    /// The state of a call changed.
    case callUpdate(CallUpdateBody)
    /// The conversation was created.
    case conversationCreate(ConversationCreateBody)
    /// The title, picture, description or settings changed.
    case conversationSet(ConversationSetBody)
    /// The members changed, in the way that the kind of the event indicates.
    case members(MemberBody)
    /// One of the user's settings for a conversation changed.
    case ownSet(OwnSetBody)
    /// The draft for a conversation changed.
    case draft(DraftBody)
    /// The user hid events ("delete for me").
    case hide(HideBody)
    /// The user's profile or settings changed.
    case ownUser(OwnUserBody)
    /// A contact changed, in the way that the kind of the event indicates.
    case contact(ContactBody)
    /// A device was added or removed.
    case device(DeviceBody)

    /// Decodes the change that an event describes; nil for a message, an unknown kind or removed
    /// content.
    ///
    /// - Parameter event: The event.
    public init?(_ event: ChatEvent) {
        guard let change = try? ChatChange(reading: event) else { return nil }
        self = change
    }

    /// Decodes the body of a change.
    package init(reading event: ChatEvent) throws(WireError) {
        let reader = WireReader(event.body)
        switch event.kind.code {
        case .edit: self = .edit(try EditBody(from: reader))
        case .preview: self = .preview(try PreviewBody(from: reader))
        case .recall: self = .recall
        case .react: self = .react(try ReactBody(from: reader))
        case .vote: self = .vote(try VoteBody(from: reader))
        case .pollClose: self = .pollClose
        case .pin: self = .pin(try PinBody(from: reader))
        case .callUpdate: self = .callUpdate(try CallUpdateBody(from: reader))
        case .conversationCreate: self = .conversationCreate(try ConversationCreateBody(from: reader))
        case .conversationSet: self = .conversationSet(try ConversationSetBody(from: reader))
        case .memberJoin, .memberInvite, .memberLeave, .memberRemove, .memberBan, .memberUnban, .memberRole, .memberMute:
            self = .members(try MemberBody(from: reader))
        case .selfPin, .selfArchive, .selfMute, .selfUnread, .selfFolder: self = .ownSet(try OwnSetBody(from: reader))
        case .selfDraft: self = .draft(try DraftBody(from: reader))
        case .selfHide: self = .hide(try HideBody(from: reader))
        case .selfSet: self = .ownUser(try OwnUserBody(from: reader))
        case .contactRequest, .contactAccept, .contactRemove, .contactAlias, .contactBlock, .contactUnblock:
            self = .contact(try ContactBody(from: reader))
        case .deviceAdd, .deviceRemove: self = .device(try DeviceBody(from: reader))
        case .text, .image, .audio, .video, .file, .location, .card, .call, .poll, .bundle, .encrypted, .hidden, .custom, .other:
            throw WireError(.unsupported, field: "kind", rule: "must be the kind of a change, not `\(event.kind)`")
        }
    }
}
