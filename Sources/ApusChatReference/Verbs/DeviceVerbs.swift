import ApusChatProtocol

extension ChatReference {
    /// The access to the media server of a call.
    private static let access: Field = .may(
        "access", .shape("CallAccess"), "The access to the media server that carries the call; absent if the devices connect to each other."
    )

    /// The verbs of calls and devices.
    static let deviceVerbs = VerbGroup(
        title: "Calls and devices",
        verbs: [
            Verb(
                ChatVerbs.callStart,
                """
                Calls the other members, or returns the running call. A client that receives a call which another \
                user began accepts it with `call.update`: two calls that cross become one. In a group with more than \
                \(ChatLimits.meshDevices) members, a server with a media server answers with the access to it, and refuses \
                clients that cannot use it with `unsupported`. A group with calls has at most \
                \(ChatLimits.callMembers) members, or \(ChatLimits.roomMembers) with a media server.
                """,
                request: [
                    .id,
                    .conv,
                    .must("media", .choice(CallMedia.self), "`audio` or `video`."),
                    .may("backends", .list(.string(1...40), 10), "The media servers that the client can use, such as `livekit`."),
                ],
                answer: [
                    .must("conv", .conversation, "The conversation."),
                    .must("call", .seq, "The `seq` of the call."),
                    .must("at", .time, "The time at which the call was stored."),
                    Self.access,
                ],
                errors: [.forbidden, .notFound, .conflict, .unsupported, .limit, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "media": "video"}"#,
                answers: #"{"conv": "1q2w3e4r5t6y7", "call": 19, "at": 1790000000000}"#),
            Verb(
                ChatVerbs.callUpdate,
                """
                Accepts, declines or ends a call. The first device that accepts the call takes it. A device takes \
                part in a call that it started or accepted, or to which it sent a `signal`. The server ends a call \
                that is not accepted within \(ChatLimits.ringSeconds) s, and an accepted call whose devices have all \
                been disconnected for \(ChatLimits.absenceSeconds) s. After a restart it does not know the devices of a \
                call, so a device that reconnects during a call sends `accepted` again. In an accepted call of a \
                group, `ended` means that the device leaves: the answer has no `seq`, and the server ends the call \
                when the last device has left, has been disconnected for \(ChatLimits.absenceSeconds) s, or belongs \
                to a former member. A device that left takes part again after `accepted`.
                """,
                request: [
                    .id,
                    .conv,
                    .must("call", .seq, "The `seq` of the call."),
                    .must("state", .choice(CallState.self), "`accepted`, `declined`, `busy` or `ended`."),
                ],
                answer: Self.changed + [Self.access],
                errors: [.forbidden, .notFound, .conflict, .tooLate, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "conv": "1q2w3e4r5t6y7", "call": 19,
                     "state": "accepted"}
                    """#,
                answers: #"""
                    {"conv": "1q2w3e4r5t6y7", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.callServers,
                "Requests the STUN and TURN servers for a call.",
                request: [],
                answer: [
                    .must("servers", .list(.shape("CallServer"), 20), "The servers."),
                    .must("expires_at", .time, "The time at which the credentials expire."),
                    .may("relay_only", .bool, "Whether the devices use TURN servers only."),
                ],
                errors: [],
                example: #"{}"#,
                answers: #"""
                    {"servers": [{"urls": ["turns:turn.example.org:443"], "username": "1790003600:alice",
                     "credential": "s3cr3t"}], "expires_at": 1790003600000}
                    """#),
            Verb(
                ChatVerbs.signal,
                """
                Sends data of a call to a device of another user or, without `to`, to the devices of other users in the \
                call. The data is not stored.
                """,
                request: [
                    .conv,
                    .must("call", .seq, "The `seq` of the call."),
                    .may("to", .user, "The recipient; absent for the devices that take part in the call."),
                    .may("device", .device, "The device of the recipient; absent for all devices."),
                    .must("data", .any, "The data, which the server passes on unchanged."),
                ],
                answer: [],
                errors: [.notFound, .tooLate],
                example: #"{"conv": "1q2w3e4r5t6y7", "call": 19, "to": "bob", "data": {"candidate": "…"}}"#,
                answers: #"{}"#),
            Verb(
                ChatVerbs.devices,
                "Requests the devices of the user, last used first, and whether sign-ins need a code.",
                request: [],
                answer: [
                    .must("devices", .list(.shape("Device"), ChatLimits.devices), "The devices."),
                    .may("authenticator", .bool, "Whether a sign-in needs a code of an authenticator."),
                ],
                errors: [],
                example: #"{}"#,
                answers: #"""
                    {"devices": [{"device": "2d3e4v5c6e7a8", "name": "Firefox on Linux", "platform": "web",
                     "at": 1790000000000, "last_seen": 1790000000000, "address": "192.0.2.7", "current": true}],
                     "authenticator": true}
                    """#),
            Verb(
                ChatVerbs.deviceRemove,
                "Ends the session of another device, or of all others.",
                request: [
                    .id,
                    .may("device", .device, "The device."),
                    .may("others", .bool, "Whether the sessions of all devices except the requesting one end."),
                ],
                answer: Self.changed,
                errors: [.notFound, .conflict, .storage],
                example: #"{"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "others": true}"#,
                answers: #"""
                    {"conv": "0s1e2f3c4v5n6", "id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "seq": 18,
                     "at": 1790000000000}
                    """#),
            Verb(
                ChatVerbs.pushSet,
                """
                Sets the push subscription of the device, which receives notifications of messages that it has not \
                received. The endpoint must be an `https` URL with a public address. Only `web` is supported. The \
                subscription is removed with the session of the device, and when its push service no longer knows it.
                """,
                request: [
                    .id,
                    .must("kind", .choice(PushService.self), "The push service; `none` removes the subscription."),
                    .may("data", .any, "The subscription, in the form of the push service (RFC 8030 for `web`)."),
                ],
                answer: [],
                errors: [.conflict, .storage],
                example: #"""
                    {"id": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162", "kind": "web",
                     "data": {"endpoint": "https://push.example.org/1", "keys": {"p256dh": "B…", "auth": "c…"}}}
                    """#,
                answers: #"{}"#),
        ])
}
