import ApusChatProtocol

extension RateRules {
    /// The text of `docs/chat-limits.md`.
    package static var page: String {
        var page = """
            # Budgets of the chat

            Generated from `Sources/ApusChatCore/Limits`. `APUS_UPDATE_DOCS=1` in the environment of `RateBudgetTests` writes
            it again. The limits of sizes and numbers are in `docs/chat-wire.md`.

            A budget permits a burst and then a rate. A request above it is refused with `too_many` and `retry_after`, and
            charged to none of its budgets. `address` is an IPv4 address or an IPv6 /64, `block` an IPv4 /24 or an IPv6 /48.

            | for each | \(RateScope.allCases.map(\.rawValue).joined(separator: " | ")) |
            |---|\(String(repeating: "---|", count: RateScope.allCases.count))

            """
        for action in RateAction.allCases {
            let cells = RateScope.allCases.map { Self.standard[action, $0].map(Self.text) ?? "–" }
            page += "| \(action.name) | \(cells.joined(separator: " | ")) |\n"
        }
        let rules = ChatRules()
        page += """

            | other budget | value |
            |---|---|
            | invitations and contact requests of an account a day | \(ChatLimits.invitationsPerDay) |
            | invitations of an account that wait for an answer | \(ChatLimits.openInvitations) |
            | contacts and requests of an account | \(ChatLimits.contacts) |
            | blocked users of an account | \(ChatLimits.blockedUsers) |
            | conversations of an account | \(ChatLimits.conversations) |
            | reading requests of an account under way | \(FairQueue<Int>.Bounds.reads.underWay) |
            | waiting reading requests of an account | \(FairQueue<Int>.Bounds.reads.waitingOfUser) |
            | waiting changes of an account | \(FairQueue<Int>.Bounds.commands.waitingOfUser) |
            | time for which the sender can edit a message, by default | \(rules.editMilliseconds / 3_600_000) h |
            | time for which the sender can recall a message, by default | \(rules.recallMilliseconds / 3_600_000) h |
            | frames of changed heads and read positions of a connection | 1 in \(CoalescedHeads.interval) ms |

            """
        return page
    }

    private static func text(_ rate: TokenBucket.Rate) -> String {
        let period = rate.period == 1_000 ? "s" : "\(rate.period / 1_000) s"
        return "\(rate.burst), then \(rate.count)/\(period)"
    }
}
