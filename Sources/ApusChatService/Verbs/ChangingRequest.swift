import ApusChatProtocol

/// A request with an id, which identifies a retry.
protocol ChangingRequest: WireObject {
    var id: ClientID { get }
}

extension SendRequest: ChangingRequest {}
extension EditRequest: ChangingRequest {}
extension PreviewRemoveRequest: ChangingRequest {}
extension RecallRequest: ChangingRequest {}
extension HideRequest: ChangingRequest {}
extension ReactRequest: ChangingRequest {}
extension PinRequest: ChangingRequest {}
extension VoteRequest: ChangingRequest {}
extension PollCloseRequest: ChangingRequest {}
extension ForwardRequest: ChangingRequest {}
extension ScheduleRequest: ChangingRequest {}
extension UnscheduleRequest: ChangingRequest {}
extension DeleteRequest: ChangingRequest {}
extension OpenRequest: ChangingRequest {}
extension CreateRequest: ChangingRequest {}
extension ConversationSetRequest: ChangingRequest {}
extension MemberAddRequest: ChangingRequest {}
extension MemberAnswerRequest: ChangingRequest {}
extension MemberJoinRequest: ChangingRequest {}
extension MemberApproveRequest: ChangingRequest {}
extension MemberLeaveRequest: ChangingRequest {}
extension MemberUsersRequest: ChangingRequest {}
extension MemberUntilRequest: ChangingRequest {}
extension MemberRoleRequest: ChangingRequest {}
extension LinkCreateRequest: ChangingRequest {}
extension LinkRevokeRequest: ChangingRequest {}
extension OwnSetRequest: ChangingRequest {}
extension DraftRequest: ChangingRequest {}
extension SettingsSetRequest: ChangingRequest {}
extension ProfileSetRequest: ChangingRequest {}
extension ContactRequestRequest: ChangingRequest {}
extension ContactAnswerRequest: ChangingRequest {}
extension ContactUserRequest: ChangingRequest {}
extension ContactAliasRequest: ChangingRequest {}
extension ReportRequest: ChangingRequest {}
extension CallStartRequest: ChangingRequest {}
extension CallUpdateRequest: ChangingRequest {}
