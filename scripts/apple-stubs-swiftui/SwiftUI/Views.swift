// The declarations of SwiftUI that Examples/SwiftUIChat and the README use, without behavior, from
// Apple's documentation (developer.apple.com/documentation/swiftui). `scripts/check-swiftui`
// type-checks both with them.
@_exported import Foundation
@_exported import Observation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

/// A view of SwiftUI itself.
public protocol PrimitiveView: View where Body == Never {}
extension PrimitiveView {
    public var body: Never { fatalError() }
}

@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        TupleView()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> { .init() }
    public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> { .init() }
}

public struct EmptyView: PrimitiveView { nonisolated public init() {} }
public struct TupleView<T>: PrimitiveView { nonisolated init() {} }
public struct _ConditionalContent<First, Second>: PrimitiveView where First: View, Second: View { nonisolated init() {} }
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

public struct HorizontalAlignment: Sendable {
    public static let leading = Self()
    public static let center = Self()
    public static let trailing = Self()
}
public struct VerticalAlignment: Sendable { public static let center = Self() }

public struct Text: PrimitiveView {
    public init(_ content: some StringProtocol) {}
    public init(_ content: AttributedString) {}
    public func font(_ font: Font?) -> Text { self }
}
public struct Font: Sendable {
    public static let headline = Self()
    public static let subheadline = Self()
    public static let caption = Self()
}
public struct VStack<Content: View>: PrimitiveView {
    public init(alignment: HorizontalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
}
public struct HStack<Content: View>: PrimitiveView {
    public init(alignment: VerticalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
}
public struct LazyVStack<Content: View>: PrimitiveView {
    public init(alignment: HorizontalAlignment = .center, spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
}
public struct ScrollView<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: PrimitiveView { public init(@ViewBuilder content: () -> Content) {} }
public struct List<SelectionValue, Content: View>: PrimitiveView {}
extension List where SelectionValue == Never {
    public init(@ViewBuilder content: () -> Content) {}
}
extension List where SelectionValue == Never {
    public init<Data: RandomAccessCollection, ID: Hashable, Row: View>(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Content == ForEach<Data, ID, Row> {}
}
public struct NavigationStack<Root: View>: PrimitiveView { public init(@ViewBuilder root: () -> Root) {} }
public struct NavigationLink<Label: View>: PrimitiveView {
    public init<P: Hashable>(value: P?, @ViewBuilder label: () -> Label) {}
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: PrimitiveView {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}
public struct Spacer: PrimitiveView { public init() {} }
public struct ProgressView: PrimitiveView {
    public init() {}
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) {}
}
public struct Button<Label: View>: PrimitiveView {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}
extension Button where Label == Text {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
}
public struct TextField<Label: View>: PrimitiveView {}
extension TextField where Label == Text {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}
public struct SecureField<Label: View>: PrimitiveView {}
extension SecureField where Label == Text {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}
