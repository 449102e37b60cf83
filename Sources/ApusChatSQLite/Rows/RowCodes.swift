import ApusChatProtocol

// The numbers that represent enumeration values in the database. They must never change.

extension ConversationKind {
    var code: Int64 {
        switch self {
        case .unknown: 0
        case .own: 1
        case .pair: 2
        case .group: 3
        case .channel: 4
        }
    }

    init(code: Int64) { self = Self.allCases.first { $0.code == code } ?? .unknown }
}

extension MemberRole {
    /// The numbers are in the order of the rank.
    var code: Int64 {
        switch self {
        case .unknown: 0
        case .guest: 1
        case .reader: 2
        case .member: 3
        case .admin: 4
        case .owner: 5
        }
    }

    init(code: Int64) {
        switch code {
        case 1: self = .guest
        case 2: self = .reader
        case 3: self = .member
        case 4: self = .admin
        case 5: self = .owner
        default: self = .unknown
        }
    }
}

extension MemberState {
    var code: Int64 {
        switch self {
        case .unknown: 0
        case .joined: 1
        case .invited: 2
        case .requested: 3
        case .left: 4
        case .removed: 5
        case .banned: 6
        }
    }

    init(code: Int64) {
        switch code {
        case 1: self = .joined
        case 2: self = .invited
        case 3: self = .requested
        case 4: self = .left
        case 5: self = .removed
        case 6: self = .banned
        default: self = .unknown
        }
    }
}

extension EventState {
    /// Events with a state of 10 or higher have no content.
    var code: Int64 {
        switch self {
        case .unknown, .normal: 0
        case .edited: 1
        case .recalled: 10
        case .expired: 11
        case .erased: 12
        }
    }

    init(code: Int64) {
        switch code {
        case 1: self = .edited
        case 10: self = .recalled
        case 11: self = .expired
        case 12: self = .erased
        default: self = .normal
        }
    }
}
