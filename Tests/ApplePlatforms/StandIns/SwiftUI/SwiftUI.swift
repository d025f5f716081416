@_exported import Combine
@_exported import Foundation
@_exported import Observation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: View { public var body: Never { return fatalError() } }
@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each C: View>(_ c: repeat each C) -> TupleView<(repeat each C)> { fatalError() }
}
public struct TupleView<T>: View { public var body: Never { return fatalError() } }
public struct Text: View {
    public init<S: StringProtocol>(_ s: S) {}
    public var body: Never { return fatalError() }
}
public struct ProgressView<L>: View { public var body: Never { return fatalError() } }
extension ProgressView where L: View {
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0, @ViewBuilder label: () -> L) {}
}
public struct ButtonRole: Sendable { public static let cancel = ButtonRole(), destructive = ButtonRole() }
public struct Button<L: View>: View { public var body: Never { return fatalError() } }
extension Button where L == Text {
    public init<S: StringProtocol>(_ t: S, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
    public init<S: StringProtocol>(_ t: S, action: @escaping @MainActor () -> Void) {}
}
