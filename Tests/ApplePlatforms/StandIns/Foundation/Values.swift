// Data, Date, UUID, URL, strings, calendars and coding.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC

public typealias TimeInterval = Double
extension NSData { public convenience init(data: Data) { fatalError() } }
extension NSArray { public convenience init(array: [Any]) { fatalError() } }
@objc public class NSURL: NSObject {}
@objc public class NSURLRequest: NSObject {}
@objc public class NSDate: NSObject {}
public protocol ReferenceConvertible: _ObjectiveCBridgeable, CustomStringConvertible, CustomDebugStringConvertible,
    Hashable
{}
extension _ObjectiveCBridgeable {
    public static func _forceBridgeFromObjectiveC(_ s: _ObjectiveCType, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ s: _ObjectiveCType, result: inout Self?) -> Bool { true }
    public static func _unconditionallyBridgeFromObjectiveC(_ s: _ObjectiveCType?) -> Self { fatalError() }
}
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
public protocol ContiguousBytes {
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension Array: ContiguousBytes where Element == UInt8 {}

public struct Data: Hashable, Sendable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    _ObjectiveCBridgeable, Codable, ContiguousBytes, DataProtocol, CustomStringConvertible
{
    public typealias Index = Int
    public typealias SubSequence = Data
    public func _bridgeToObjectiveC() -> NSData { fatalError() }
    public init() {}
    public init(count: Int) {}
    public init(referencing: NSData) {}
    public init(capacity: Int) {}
    public init(repeating: UInt8, count: Int) {}
    public init<S: Sequence>(_ s: S) where S.Element == UInt8 {}
    public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let mappedIfSafe = ReadingOptions(rawValue: 1)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let atomic = WritingOptions(rawValue: 1)
    }
    public struct Base64EncodingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init?(base64Encoded: String) { nil }
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(i: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(r: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public mutating func reserveCapacity(_ n: Int) {}
    public mutating func append(_ d: Data) {}
    public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with c: C) where C.Element == UInt8 {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public mutating func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
        fatalError()
    }
    public func range(of d: Data) -> Range<Int>? { nil }
    public func subdata(in range: Range<Int>) -> Data { self }
    public var description: String { "" }
}
public struct Date: Hashable, Sendable, Comparable, Codable, CustomStringConvertible {
    public init() {}
    public init(timeIntervalSince1970: TimeInterval) {}
    public init(timeIntervalSinceNow: TimeInterval) {}
    public var timeIntervalSince1970: TimeInterval { 0 }
    public var timeIntervalSinceNow: TimeInterval { 0 }
    public func addingTimeInterval(_ t: TimeInterval) -> Date { self }
    public func timeIntervalSince(_ d: Date) -> TimeInterval { 0 }
    public static func < (a: Date, b: Date) -> Bool { false }
    public init(timeIntervalSinceReferenceDate: TimeInterval) {}
    public static func + (date: Date, interval: TimeInterval) -> Date { date }
    public static func - (date: Date, interval: TimeInterval) -> Date { date }
    public static func += (date: inout Date, interval: TimeInterval) {}
    public static var distantFuture: Date { Date() }
    public static var distantPast: Date { Date() }
    public static var now: Date { Date() }
    public var description: String { "" }
}
public typealias uuid_t = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)
public struct UUID: Hashable, Sendable, Codable, CustomStringConvertible {
    public init() {}
    public init(uuid: uuid_t) {}
    public init?(uuidString: String) { nil }
    public var uuidString: String { "" }
    public var description: String { "" }
}
public struct URL: Hashable, Sendable, Codable, _ObjectiveCBridgeable, CustomStringConvertible,
    CustomDebugStringConvertible
{
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
    public func _bridgeToObjectiveC() -> NSURL { fatalError() }
    public init?(string: String) { nil }
    public init?(string: String, encodingInvalidCharacters: Bool) { nil }
    public init?(string: String, relativeTo: URL?) { nil }
    public init(fileURLWithPath: String) {}
    public init(fileURLWithPath: String, isDirectory: Bool) {}
    public init(filePath: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo: URL? = nil) {}
    public var absoluteString: String { "" }
    public var absoluteURL: URL { self }
    public var baseURL: URL? { nil }
    public var relativeString: String { "" }
    public var relativePath: String { "" }
    public var scheme: String? { nil }
    public var port: Int? { nil }
    public var isFileURL: Bool { true }
    public var host: String? { nil }
    public var path: String { "" }
    public var query: String? { nil }
    public var fragment: String? { nil }
    public var user: String? { nil }
    public var password: String? { nil }
    public func host(percentEncoded: Bool = true) -> String? { nil }
    public func path(percentEncoded: Bool = true) -> String { "" }
    public func user(percentEncoded: Bool = true) -> String? { nil }
    public func password(percentEncoded: Bool = true) -> String? { nil }
    public func query(percentEncoded: Bool = true) -> String? { nil }
    public func fragment(percentEncoded: Bool = true) -> String? { nil }
    public var lastPathComponent: String { "" }
    public var pathExtension: String { "" }
    public var pathComponents: [String] { [] }
    public func deletingLastPathComponent() -> URL { self }
    public func appendingPathComponent(_ s: String) -> URL { self }
    public func appendingPathComponent(_ s: String, isDirectory: Bool) -> URL { self }
    public func appendingPathExtension(_ s: String) -> URL { self }
    public func appending<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) -> URL { self }
    public func appending<S: StringProtocol>(component: S, directoryHint: DirectoryHint = .inferFromPath) -> URL {
        self
    }
    public var standardizedFileURL: URL { self }
    public func resolvingSymlinksInPath() -> URL { self }
    public var description: String { "" }
    public var debugDescription: String { "" }
    public func appending(queryItems: [URLQueryItem]) -> URL { self }
    public static func currentDirectory() -> URL { fatalError() }
    public static var documentsDirectory: URL { fatalError() }
    public static var cachesDirectory: URL { fatalError() }
    public mutating func append<S: StringProtocol>(path: S, directoryHint: DirectoryHint = .inferFromPath) {}
    public static var temporaryDirectory: URL { fatalError() }
}
public struct URLQueryItem: Hashable, Sendable {
    public init(name: String, value: String?) { self.name = name; self.value = value }
    public var name: String
    public var value: String?
}
public struct URLComponents: Hashable, Sendable {
    public init() {}
    public init?(string: String) { nil }
    public init?(string: String, encodingInvalidCharacters: Bool) { nil }
    public init?(url: URL, resolvingAgainstBaseURL: Bool) { nil }
    public var url: URL? { nil }
    public var string: String? { nil }
    public var scheme: String?
    public var user: String?
    public var password: String?
    public var host: String?
    public var port: Int?
    public var path = ""
    public var query: String?
    public var fragment: String?
    public var percentEncodedUser: String?
    public var percentEncodedPassword: String?
    public var percentEncodedHost: String?
    public var encodedHost: String?
    public var percentEncodedPath = ""
    public var percentEncodedQuery: String?
    public var percentEncodedFragment: String?
    public var rangeOfPort: Range<String.Index>? { fatalError() }
    public var queryItems: [URLQueryItem]?
    public var percentEncodedQueryItems: [URLQueryItem]?
}
extension String {
    public struct CompareOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let caseInsensitive = CompareOptions(rawValue: 1)
    }
}
public struct CharacterSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Unicode.Scalar...) {}
    public static var urlPathAllowed: CharacterSet { fatalError() }
    public static var urlQueryAllowed: CharacterSet { fatalError() }
    public static var whitespaces: CharacterSet { fatalError() }
    public static var whitespacesAndNewlines: CharacterSet { fatalError() }
    public static var newlines: CharacterSet { fatalError() }
    public static var alphanumerics: CharacterSet { fatalError() }
    public func union(_ other: CharacterSet) -> CharacterSet { self }
}
extension StringProtocol {
    public func trimmingCharacters(in s: CharacterSet) -> String { "" }
    public var removingPercentEncoding: String? { nil }
    public func addingPercentEncoding(withAllowedCharacters: CharacterSet) -> String? { nil }
    public func replacingOccurrences<A: StringProtocol, B: StringProtocol>(of: A, with: B) -> String { "" }
    public func range<T: StringProtocol>(of: T, options: String.CompareOptions = []) -> Range<Index>? { nil }
    public func contains<T: StringProtocol>(_ o: T) -> Bool { true }
    public func components<T: StringProtocol>(separatedBy: T) -> [String] { [] }
    public func data(using: String.Encoding) -> Data? { nil }
    public func appending<T: StringProtocol>(_ s: T) -> String { "" }
    public var precomposedStringWithCanonicalMapping: String { "" }
    public var decomposedStringWithCanonicalMapping: String { "" }
}
extension String {
    public struct Encoding: Sendable, Hashable {
        public static let utf8 = Encoding(), isoLatin1 = Encoding(), ascii = Encoding()
    }
    public init?(data: Data, encoding: Encoding) { nil }
    public init(format: String, _ args: any CVarArg...) { self = "" }
    public init(contentsOf: URL, encoding: Encoding) throws { self = "" }
    public init(contentsOfFile: String, encoding: Encoding) throws { self = "" }
    public func write(toFile: String, atomically: Bool, encoding: Encoding) throws {}
    public func write(to: URL, atomically: Bool, encoding: Encoding) throws {}
}
public protocol NSObjectVoid {}

public struct TimeZone: Hashable, Sendable {
    public init?(secondsFromGMT: Int) { nil }
    public init?(identifier: String) { nil }
    public static var gmt: TimeZone { fatalError() }
}
public struct DateComponents: Hashable, Sendable {
    public var weekday: Int?, day: Int?, month: Int?, year: Int?, hour: Int?, minute: Int?, second: Int?
    public init() {}
}
public struct Calendar: Hashable, Sendable {
    public enum Identifier: Sendable { case gregorian, iso8601 }
    public enum Component: Hashable, Sendable { case weekday, day, month, year, hour, minute, second }
    public init(identifier: Identifier) {}
    public var timeZone: TimeZone {
        get { fatalError() }
        set {}
    }
    public func dateComponents(_ c: Set<Component>, from: Date) -> DateComponents { DateComponents() }
}

open class JSONDecoder: @unchecked Sendable {
    public init() {}
    open func decode<T: Decodable>(_ t: T.Type, from: Data) throws -> T { fatalError() }
    public enum KeyDecodingStrategy: Sendable { case useDefaultKeys, convertFromSnakeCase }
    open var keyDecodingStrategy: KeyDecodingStrategy {
        get { .useDefaultKeys }
        set {}
    }
    public enum DateDecodingStrategy: Sendable { case iso8601 }
    open var dateDecodingStrategy: DateDecodingStrategy {
        get { .iso8601 }
        set {}
    }
}
open class PropertyListDecoder: @unchecked Sendable {
    public init() {}
    open func decode<T: Decodable>(_ t: T.Type, from: Data) throws -> T { fatalError() }
}
open class PropertyListEncoder: @unchecked Sendable {
    public init() {}
    open func encode<T: Encodable>(_ t: T) throws -> Data { fatalError() }
}
open class JSONEncoder: @unchecked Sendable {
    public init() {}
    open func encode<T: Encodable>(_ t: T) throws -> Data { fatalError() }
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let sortedKeys = OutputFormatting(rawValue: 1), prettyPrinted = OutputFormatting(rawValue: 2),
            withoutEscapingSlashes = OutputFormatting(rawValue: 4)
    }
    open var outputFormatting: OutputFormatting {
        get { [] }
        set {}
    }
}

open class NSNull: NSObject, @unchecked Sendable {}
open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = ReadingOptions(rawValue: 4)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let fragmentsAllowed = WritingOptions(rawValue: 4)
    }
    open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any { fatalError() }
    open class func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data { fatalError() }
}

public struct Locale: Hashable, Sendable { public init(identifier: String) {} }
extension Date {
    public func ISO8601Format() -> String { fatalError() }
    public struct FormatStyle: Sendable {
        public struct Symbol: Sendable {
            public struct Weekday: Sendable { public static var abbreviated: Self { fatalError() } }
            public struct Day: Sendable { public static var twoDigits: Self { fatalError() } }
            public struct Month: Sendable { public static var abbreviated: Self { fatalError() } }
            public struct Year: Sendable { public static func padded(_ length: Int) -> Self { fatalError() } }
            public struct Minute: Sendable { public static var twoDigits: Self { fatalError() } }
            public struct Second: Sendable { public static var twoDigits: Self { fatalError() } }
            public struct VerbatimHour: Sendable {
                public enum Clock: Sendable { case twelveHour, twentyFourHour }
                public enum HourCycle: Sendable { case zeroBased, oneBased }
                public static func twoDigits(clock: Clock, hourCycle: HourCycle) -> Self { fatalError() }
            }
        }
    }
    public struct FormatString: Sendable, ExpressibleByStringInterpolation {
        public init(stringLiteral: String) {}
        public init(stringInterpolation: StringInterpolation) {}
        public struct StringInterpolation: StringInterpolationProtocol, Sendable {
            public init(literalCapacity: Int, interpolationCount: Int) {}
            public mutating func appendLiteral(_ literal: String) {}
            public mutating func appendInterpolation(weekday: FormatStyle.Symbol.Weekday) {}
            public mutating func appendInterpolation(day: FormatStyle.Symbol.Day) {}
            public mutating func appendInterpolation(month: FormatStyle.Symbol.Month) {}
            public mutating func appendInterpolation(year: FormatStyle.Symbol.Year) {}
            public mutating func appendInterpolation(hour: FormatStyle.Symbol.VerbatimHour) {}
            public mutating func appendInterpolation(minute: FormatStyle.Symbol.Minute) {}
            public mutating func appendInterpolation(second: FormatStyle.Symbol.Second) {}
        }
    }
    public struct VerbatimFormatStyle: Sendable {
        public init(format: FormatString, locale: Locale, timeZone: TimeZone, calendar: Calendar) {}
    }
    public func formatted(_ style: VerbatimFormatStyle) -> String { "" }
}

open class DateFormatter: NSObject, @unchecked Sendable {
    open var locale: Locale? {
        get { nil }
        set {}
    }
    open var timeZone: TimeZone? {
        get { nil }
        set {}
    }
    open var dateFormat: String? {
        get { nil }
        set {}
    }
    open func string(from date: Date) -> String { "" }
    open func date(from text: String) -> Date? { nil }
}
