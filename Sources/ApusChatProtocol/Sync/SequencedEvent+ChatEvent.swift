extension ChatEvent: SequencedEvent {}
