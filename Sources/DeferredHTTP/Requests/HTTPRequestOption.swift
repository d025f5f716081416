/// Something that a loader wants to know about a request, with a default for those that don't say it.
///
/// ```swift
/// enum Priority: HTTPRequestOption {
///     static let defaultValue = 0
/// }
/// extension HTTPRequest {
///     var priority: Int {
///         get { self[Priority.self] }
///         set { self[Priority.self] = newValue }
///     }
/// }
/// ```
///
/// Make the value `Hashable` where you can: ``Deduplicate`` leaves alone requests whose options it can't compare. It compares
/// them under its lock, so that comparing and hashing a value must not load a request.
public protocol HTTPRequestOption {
    /// What a request says.
    associatedtype Value: Sendable

    /// What a request says that doesn't say anything.
    static var defaultValue: Value { get }
}

/// What requests say about themselves to the loaders.
struct HTTPRequestOptions: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    subscript<Option: HTTPRequestOption>(option: Option.Type) -> Option.Value {
        get { values[ObjectIdentifier(option)] as? Option.Value ?? option.defaultValue }
        set { values[ObjectIdentifier(option)] = newValue }
    }

    /// All of them in a form that can be compared; `nil` if one of them can't be.
    var comparable: [ObjectIdentifier: AnyHashable]? {
        var result: [ObjectIdentifier: AnyHashable] = [:]
        for (option, value) in values {
            guard let value = value as? any Hashable else { return nil }
            result[option] = AnyHashable(value)
        }
        return result
    }
}

extension HTTPRequest {
    /// What this request says about an option, or the option's default.
    public subscript<Option: HTTPRequestOption>(option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }
}
