/// A typed setting of a request for a particular loader, with a default.
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
/// Make the value `Hashable` if possible: ``Deduplicate`` does not merge requests whose options it can't compare. It
/// compares them under its lock, so comparing and hashing a value must not load a request.
public protocol HTTPRequestOption {
    /// The type of the setting.
    associatedtype Value: Sendable

    /// The value when the option is unset.
    static var defaultValue: Value { get }
}

/// The options of a request.
package struct HTTPRequestOptions: Sendable {
    /// No tuple, whose copies the runtime makes by its metadata: a hit of a cache took 700 instructions more.
    private struct Entry {
        let option: ObjectIdentifier
        var value: any Sendable
    }

    /// The values that were set. There are so few that a linear search is faster than hashing.
    private var entries: [Entry] = []

    subscript<Option: HTTPRequestOption>(option: Option.Type) -> Option.Value {
        get {
            guard let index = index(of: ObjectIdentifier(option)) else { return option.defaultValue }
            // Set by this subscript.
            return entries[index].value as! Option.Value
        }
        set {
            let identifier = ObjectIdentifier(option)
            if let index = index(of: identifier) {
                entries[index].value = newValue
            } else {
                entries.append(Entry(option: identifier, value: newValue))
            }
        }
    }

    /// Unlike ``Swift/Collection/firstIndex(where:)``, copies no value.
    private func index(of option: ObjectIdentifier) -> Int? {
        for index in entries.indices where entries[index].option == option { return index }
        return nil
    }

    /// All options in a form that can be compared; `nil` if one of them can't be.
    package var comparable: [ObjectIdentifier: AnyHashable]? {
        var result: [ObjectIdentifier: AnyHashable] = [:]
        for entry in entries {
            guard let value = entry.value as? any Hashable else { return nil }
            // Texts are compared by their bytes.
            result[entry.option] = (value as? String).map { AnyHashable(Array($0.utf8)) } ?? AnyHashable(value)
        }
        return result
    }
}

extension HTTPRequest {
    /// The value of an option, or the option's default.
    public subscript<Option: HTTPRequestOption>(option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }
}
