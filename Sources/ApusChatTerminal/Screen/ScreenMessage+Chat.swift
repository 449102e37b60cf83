package import ApusChatClient
package import ApusChatProtocol
import ApusJSON

extension ScreenMessage {
    /// Converts a message for the screen.
    ///
    /// - Parameters:
    ///   - quote: The message to which the message replies; nil if it is not shown.
    ///   - me: The user of the client.
    ///   - name: Returns the shown name of a user.
    package init(
        _ message: ChatMessage, quote: ChatMessage?, me: UserName, clock: ChatClock, name: (UserName) -> String
    ) {
        let event = message.event
        let isOwn = message.isOwn || event.sender == me
        let sender = isOwn ? "you" : event.sender.map(name) ?? ""
        let id: String =
            switch message.id {
            case .own(let id): "own " + id.rawValue
            case .event(let seq): String(seq)
            }
        let isNotice = message.body == nil && !event.kind.isMessage
        self.init(
            id: id, seq: message.seq, sender: sender, day: clock.day(event.at), time: clock.time(event.at), paragraphs: [],
            source: isOwn ? Self.source(of: message) : "", isOwn: isOwn, isNotice: isNotice)
        if isNotice {
            let words = ChatText.content(of: message)
            self.paragraphs = [[ScreenSpan((sender.isEmpty ? "" : sender + " ") + words)]]
            return
        }
        self.paragraphs = Self.paragraphs(of: message, quote: quote, me: me, name: name)
        self.mark =
            switch message.delivery {
            case .queued?, .uploading?, .sending?: .waiting
            case .failed(let error)?: .failed(TerminalText.plain(error.message))
            case .sent?: .sent
            case .delivered?: .delivered
            case .read?: .read
            case nil: .none
            }
    }

    private static func source(of message: ChatMessage) -> String {
        guard case .text(let body)? = message.body else { return "" }
        return ChatMarkdown.source(of: body.text, entities: body.entities)
    }

    private static func paragraphs(
        of message: ChatMessage, quote: ChatMessage?, me: UserName, name: (UserName) -> String
    ) -> [[ScreenSpan]] {
        let event = message.event
        guard !event.state.isBlank, let body = message.body else { return [[ScreenSpan(ChatText.content(of: message), .dim)]] }
        var all: [[ScreenSpan]] = []
        if let ref = event.ref {
            let words = quote.map { row in
                let sender = row.event.sender.map { $0 == me ? "you" : name($0) } ?? "?"
                return "\(sender): \(ChatText.summary(of: row))"
            }
            all.append([ScreenSpan("┃ " + (words ?? "#\(ref)"), .dim)])
        }
        all += self.content(of: body, message, name: name)
        if event.state == .edited { all[all.count - 1].append(ScreenSpan(" (edited)", .dim)) }
        if !event.reactions.isEmpty {
            all.append(
                event.reactions.map { reaction in
                    ScreenSpan(
                        "[\(reaction.key) \(reaction.count)] ", message.ownReactions.contains(reaction.key) ? .accent : .dim)
                })
        }
        if let replies = event.replies {
            all.append([ScreenSpan("⤷ \(replies.count) \(replies.count == 1 ? "reply" : "replies") in the thread", .accent)])
        }
        return all
    }

    private static func content(of body: ChatBody, _ message: ChatMessage, name: (UserName) -> String) -> [[ScreenSpan]] {
        var all: [[ScreenSpan]] = []
        func forwarded(_ origin: ForwardedFrom?) {
            guard let origin else { return }
            all.append([ScreenSpan("↪ forwarded" + ((origin.nick ?? origin.sender?.rawValue).map { " from \($0)" } ?? ""), .dim)])
        }
        func media(_ words: String, _ caption: String?, _ entities: [TextEntity]) {
            let progress = message.progress.map { "  \(Int($0 * 100)) %" } ?? ""
            all.append([ScreenSpan("[\(words)]\(progress)", .accent)])
            if let caption, !caption.isEmpty { all += self.styled(caption, entities) }
        }
        switch body {
        case .text(let text):
            forwarded(text.forwarded)
            all += self.styled(text.text, text.entities)
            if let words = ChatText.line(for: text.preview) { all.append([ScreenSpan("┆ " + words, .dim)]) }
        case .image(let image):
            forwarded(image.forwarded)
            let size = message.delivery == .uploading ? "not uploaded yet" : "\(image.width)×\(image.height), \(ChatText.size(image.size))"
            media("picture\(image.name.map { " \($0)" } ?? ""), \(size)", image.text, image.entities)
        case .audio(let audio):
            forwarded(audio.forwarded)
            media("\(audio.isVoice ? "voice message" : "recording"), \(audio.duration / 1_000) s", audio.text, audio.entities)
        case .video(let video):
            forwarded(video.forwarded)
            media("film\(video.name.map { " \($0)" } ?? ""), \(ChatText.size(video.size))", video.text, video.entities)
        case .file(let file):
            forwarded(file.forwarded)
            media("file \(file.name), \(ChatText.size(file.size))", file.text, file.entities)
        case .poll(let poll):
            forwarded(poll.forwarded)
            all += self.poll(poll, message)
        case .bundle(let bundle):
            all.append([ScreenSpan("▤ \(bundle.title), \(bundle.items.count) messages", .accent)])
            for item in bundle.items.prefix(10) {
                let sender = item.nick ?? item.sender?.rawValue ?? "?"
                all.append([ScreenSpan("┆ \(sender): \(ChatText.shortened(item.body["text"]?.stringValue ?? "[\(item.kind)]"))", .dim)])
            }
        case .custom(let custom) where custom.text?.isEmpty == false: all += self.styled(custom.text ?? "", [])
        default:
            all.append([ScreenSpan(ChatText.content(of: body, delivery: message.delivery))])
        }
        return all
    }

    private static func poll(_ poll: PollBody, _ message: ChatMessage) -> [[ScreenSpan]] {
        var all = [[ScreenSpan("◉ " + poll.question, .bold)] + (poll.isClosed ? [ScreenSpan("  closed", .dim)] : [])]
        let votes = poll.options.indices.map { $0 < message.event.votes.count ? max(0, message.event.votes[$0]) : 0 }
        let most = max(1, votes.max() ?? 1)
        for (index, option) in poll.options.enumerated() {
            let isOwn = message.ownVotes.contains(Int64(index))
            let bar = String(repeating: "▇", count: Int(votes[index] * 10 / most))
            all.append([
                ScreenSpan(" \(index + 1) \(isOwn ? "●" : "○") \(option)  ", isOwn ? .accent : .normal), ScreenSpan(bar + " ", .good),
                ScreenSpan(String(votes[index]), .dim),
            ])
        }
        if !poll.isClosed { all.append([ScreenSpan("/vote\(message.seq.map { " #\($0)" } ?? "") NUMBER", .dim)]) }
        return all
    }

    /// Applies the formats of entities to a text. Returns one list of spans for each paragraph.
    static func styled(_ text: String, _ entities: [TextEntity]) -> [[ScreenSpan]] {
        let scalars = Array(text.unicodeScalars)
        var styles = Array(repeating: ScreenStyle(), count: scalars.count)
        for entity in entities {
            let start = Int(clamping: entity.offset)
            let (end, isTooLong) = start.addingReportingOverflow(Int(clamping: entity.length))
            guard start >= 0, start < scalars.count, !isTooLong, end > start else { continue }
            for index in start..<min(end, scalars.count) { self.apply(entity.kind, to: &styles[index]) }
        }
        var paragraphs: [[ScreenSpan]] = [[]]
        var run = String.UnicodeScalarView()
        var style = ScreenStyle()
        func flush() {
            if !run.isEmpty { paragraphs[paragraphs.count - 1].append(ScreenSpan(String(run), style)) }
            run = String.UnicodeScalarView()
        }
        for (index, scalar) in scalars.enumerated() {
            if scalar == "\n" {
                flush()
                paragraphs.append([])
                continue
            }
            if styles[index] != style {
                flush()
                style = styles[index]
            }
            run.append(scalar)
        }
        flush()
        return paragraphs
    }

    private static func apply(_ kind: TextEntityKind, to style: inout ScreenStyle) {
        switch kind {
        case .bold: style.isBold = true
        case .italic: style.isItalic = true
        case .underline: style.isUnderlined = true
        case .strike: style.isStruck = true
        case .spoiler: style.isReverse = true
        case .code, .pre: style.colour = .yellow
        case .quote: style.isDim = true
        case .link: (style.colour, style.isUnderlined) = (.blue, true)
        case .mention, .all: (style.colour, style.isBold) = (.cyan, true)
        case .hashtag: style.colour = .cyan
        case .list, .unknown: break
        }
    }
}
