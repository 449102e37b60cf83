import ApusBytes
package import ApusChatClient
package import ApusChatProtocol

/// Formats messages for display.
package enum ChatText {
    /// Replaces control characters and bidirectional controls in the text of another user with
    /// U+FFFD. Indents the lines after the first.
    package static func harmless(_ text: String) -> String { PeerText.visible(text, lineFeed: "\n    ") }

    /// Returns the message of an error. Adds the time of the next possible attempt if it is at
    /// least 10 seconds away.
    package static func reason(_ error: any Error, _ clock: ChatClock) -> String {
        guard let error = error as? ChatClientError else { return self.harmless("\(error)") }
        return self.reason(self.harmless(error.message), after: error.serverError?.retryAfter, clock)
    }

    /// Returns the message of a refusal that was received at the current time.
    package static func reason(_ refusal: ChatError, _ clock: ChatClock) -> String {
        self.reason(self.harmless(refusal.message), after: refusal.retryAfter, clock)
    }

    private static func reason(_ message: String, after milliseconds: Int64?, _ clock: ChatClock) -> String {
        guard let milliseconds, milliseconds >= 10_000 else { return message }
        let (time, overflows) = clock.now().addingReportingOverflow(milliseconds)
        // The server reports a silence without an end with a time far in the future. That time is
        // not shown.
        guard !overflows, milliseconds < 50 * 365 * 86_400_000 else { return message }
        return "\(message) Possible again: \(clock.moment(time))."
    }

    /// Returns the content of a message, with its reactions.
    ///
    /// - Parameter quote: The message to which the message replies; nil if it is not shown.
    package static func content(of message: ChatMessage, quote: ChatMessage? = nil) -> String {
        let event = message.event
        switch event.state {
        case .recalled: return "(recalled)"
        case .expired: return "(disappeared)"
        case .erased: return "(removed)"
        case .normal, .edited, .unknown: break
        }
        var text = message.body.map { self.content(of: $0, delivery: message.delivery) } ?? message.change.map { self.line(for: $0, event) }
        if text == nil { text = message.needsUpdate ? "(update to see this)" : "(\(self.harmless(event.kind.rawValue)))" }
        if case .poll(let poll)? = message.body { text?.append(self.options(of: poll, message)) }
        if event.state == .edited { text?.append(" (edited)") }
        if let ref = event.ref, message.body != nil {
            let words = quote.map { "\($0.event.sender?.rawValue ?? "?"): \(self.shortened(self.content(of: $0), to: 40)) » " } ?? ""
            text = "↩ #\(ref) " + words + (text ?? "")
        }
        if let thread = event.thread, thread != event.ref { text = "⤷ #\(thread) " + (text ?? "") }
        if let replies = event.replies { text?.append("  [\(replies.count) in the thread]") }
        for reaction in event.reactions { text?.append("  [\(self.harmless(reaction.key)) \(reaction.count)]") }
        return text ?? ""
    }

    /// Returns the content of a body, without the properties of its message.
    static func content(of body: ChatBody, delivery: DeliveryState?) -> String {
        switch body {
        case .text(let body): self.harmless(body.text) + (self.line(for: body.preview).map { "\n    ┆ " + $0 } ?? "")
        case .image(let body):
            delivery == .uploading
                ? self.media("picture, not uploaded yet", body.text)
                : self.media("picture \(body.width)×\(body.height), \(self.size(body.size))", body.text)
        case .audio(let body): self.media(body.isVoice ? self.voice(body.duration) : "recording", body.text)
        case .video(let body): self.media("film \(body.width)×\(body.height), \(self.size(body.size))", body.text)
        case .file(let body): self.media("file \(self.harmless(body.name)), \(self.size(body.size))", body.text)
        case .location(let body): "[place \(body.latitude), \(body.longitude)] " + self.harmless(body.name ?? "")
        case .card(let body): "[user @\(body.user)]"
        case .call(let body): "[\(self.call(body.state, body.media, body.duration))]"
        case .poll(let body):
            "[\(body.isClosed ? "closed poll" : "poll")] \(self.harmless(body.question))"
        case .bundle(let body): "[\(body.items.count) messages] " + self.harmless(body.title)
        case .encrypted: "[encrypted message]"
        case .custom(let body): self.harmless(body.text ?? "[\(body.kind.rawValue)]")
        }
    }

    /// Returns the title and the site of a link preview; nil if it has neither.
    static func line(for preview: LinkPreview?) -> String? {
        let words = [preview?.title, preview?.site].compactMap { $0 }.map { self.shortened(self.harmless($0)) }
        return words.isEmpty ? nil : words.joined(separator: " — ")
    }

    private static func options(of poll: PollBody, _ message: ChatMessage) -> String {
        poll.options.enumerated().map { index, option in
            let votes = index < message.event.votes.count ? message.event.votes[index] : 0
            return "\n    \(index + 1). \(self.harmless(option))  \(votes)\(message.ownVotes.contains(Int64(index)) ? " ✓" : "")"
        }.joined()
    }

    private static func media(_ words: String, _ caption: String?) -> String {
        "[\(words)]" + (caption.map { " " + self.harmless($0) } ?? "")
    }

    /// Returns a size in decimal units, as the page shows it. A number below ten has one decimal
    /// place.
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1_000 else { return "\(max(0, bytes)) byte\(bytes == 1 ? "" : "s")" }
        let (unit, name): (Int64, String) =
            bytes < 1_000_000 ? (1_000, "kB") : bytes < 1_000_000_000 ? (1_000_000, "MB") : (1_000_000_000, "GB")
        func rounded(to step: Int64) -> Int64 { bytes / step + (bytes % step >= step / 2 ? 1 : 0) }
        let tenths = rounded(to: unit / 10)
        guard tenths < 100, tenths % 10 != 0 else { return "\(rounded(to: unit)) \(name)" }
        return "\(tenths / 10).\(tenths % 10) \(name)"
    }

    /// Returns the description of a change, which is shown as one line.
    private static func line(for change: ChatChange, _ event: ChatEvent) -> String {
        switch change {
        case .conversationCreate(let body): return body.kind == .pair ? "(opened the conversation)" : "(created the \(body.kind.rawValue))"
        case .conversationSet(let body):
            return "(\(ChatSettingsText.words(for: body)))"
        case .pin(let body): return "(\(body.isRemoval ? "unpinned" : "pinned")\(event.ref.map { " #\($0)" } ?? " a message"))"
        case .members(let body): return "(\(self.words(for: body, event)))"
        default: return "(\(event.kind.rawValue))"
        }
    }

    private static func words(for body: MemberBody, _ event: ChatEvent) -> String {
        let users = body.users.map { "@\($0)" }.joined(separator: ", ")
        switch event.kind.code {
        case .memberJoin:
            guard body.users.isEmpty || body.users == [event.sender] else { return "added \(users)" }
            return body.via == .link ? "joined by a link" : "joined"
        case .memberInvite: return "invited \(users)"
        case .memberLeave: return "left"
        case .memberRemove: return "removed \(users)"
        case .memberBan: return "banned \(users)"
        case .memberUnban: return "unbanned \(users)"
        case .memberMute: return body.until == nil ? "lets \(users) write again" : "silenced \(users)"
        case .memberRole: return "made \(users) \(body.role?.rawValue ?? "member")"
        default: return "changed the members"
        }
    }

    /// Returns the content of a message as one line of at most 60 characters.
    package static func summary(of message: ChatMessage) -> String { self.shortened(self.content(of: message)) }

    /// Returns the newest event of a conversation as one line of at most 60 characters.
    package static func summary(of preview: EventPreview) -> String {
        guard !preview.state.isBlank else { return "(\(preview.state.rawValue))" }
        if let state = preview.call { return self.capitalized(self.call(state, preview.media, preview.duration)) }
        if preview.isVoice { return self.capitalized(self.voice(preview.duration)) }
        let text = preview.text.map { self.harmless($0) } ?? "(\(self.harmless(preview.kind.rawValue)))"
        return self.shortened(preview.kind.rawValue == "text" || preview.text == nil ? text : "[\(preview.kind)] \(text)")
    }

    /// Describes the silencing of the user and its end; nil if the user is not silenced.
    package static func silence(of head: ChatHead, _ clock: ChatClock) -> String? {
        guard let end = head.silencedUntil, end > clock.now() else { return nil }
        let century: Int64 = 100 * 365 * 86_400_000
        return "you may not write" + (end - clock.now() < century ? " until \(clock.moment(end))" : "")
    }

    private static func call(_ state: CallState, _ media: CallMedia?, _ duration: Int64?) -> String {
        let call = media == .video ? "video call" : "call"
        return switch state {
        case .missed, .declined: "\(state.rawValue) call"
        case .busy: "busy"
        case .ended: duration.map { "\(call), \(self.length($0))" } ?? "\(call), ended"
        case .ringing, .accepted, .unknown: "\(call), \(state.rawValue)"
        }
    }

    private static func voice(_ duration: Int64?) -> String { "voice message" + (duration.map { ", \(self.length($0))" } ?? "") }

    /// Returns a duration in hours, minutes and seconds, such as "2:31".
    static func length(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let minutes = seconds / 60 % 60
        let end = ":" + padded(seconds % 60)
        return seconds < 3_600 ? "\(minutes)\(end)" : "\(seconds / 3_600):\(padded(minutes))\(end)"
    }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    package static func members(_ number: Int64) -> String { "\(number) member\(number == 1 ? "" : "s")" }

    package static func shortened(_ text: String, to length: Int = 60) -> String {
        let line = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
        return line.count > length ? line.prefix(length - 1) + "…" : line
    }

    package static func mark(for delivery: DeliveryState?) -> String {
        switch delivery {
        case .queued, .uploading, .sending: "… waiting"
        case .failed: "✗ not sent"
        case .sent: "✓"
        case .delivered: "✓✓"
        case .read: "✓✓ read"
        case nil: ""
        }
    }

    /// Returns the title of a conversation: the title of a group or channel, the shown name of the
    /// other user, or `Notes` for a self conversation.
    package static func title(of head: ChatHead) -> String {
        if let title = head.title { return self.harmless(title) }
        if head.kind == .own { return "Notes" }
        return head.peer.map { self.harmless($0.nick ?? $0.name.rawValue) } ?? "?"
    }
}
