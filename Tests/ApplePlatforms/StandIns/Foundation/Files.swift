// Files, processes and bundles.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC

open class FileManager: NSObject, @unchecked Sendable {
    public class var `default`: FileManager { fatalError() }
    open func contents(atPath: String) -> Data? { nil }
    open func fileExists(atPath: String) -> Bool { true }
    open func fileExists(atPath: String, isDirectory: UnsafeMutablePointer<ObjCBool>?) -> Bool { true }
    open func isReadableFile(atPath: String) -> Bool { true }
    open func isWritableFile(atPath: String) -> Bool { true }
    open func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }
    open var temporaryDirectory: URL { fatalError() }
    open var currentDirectoryPath: String { "" }
    open func createDirectory(
        atPath: String,
        withIntermediateDirectories: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    open func createDirectory(at: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil)
        throws
    {}
    open func createFile(atPath: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool { true }
    open func createSymbolicLink(atPath: String, withDestinationPath: String) throws {}
    open func createSymbolicLink(at: URL, withDestinationURL: URL) throws {}
    open func isExecutableFile(atPath: String) -> Bool { true }
    open func changeCurrentDirectoryPath(_ p: String) -> Bool { true }
    open func copyItem(at: URL, to: URL) throws {}
    open func removeItem(at: URL) throws {}
    open func contentsOfDirectory(at: URL, includingPropertiesForKeys: [Int]?) throws -> [URL] { [] }
    open func removeItem(atPath: String) throws {}
    open func moveItem(at: URL, to: URL) throws {}
    open func contentsOfDirectory(atPath: String) throws -> [String] { [] }
    open func setAttributes(_ a: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
}
public struct FileAttributeKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let systemFileNumber = FileAttributeKey(rawValue: ""), size = FileAttributeKey(rawValue: ""),
        type = FileAttributeKey(rawValue: ""), posixPermissions = FileAttributeKey(rawValue: ""),
        modificationDate = FileAttributeKey(rawValue: "")
}
public struct FileAttributeType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let typeRegular = FileAttributeType(rawValue: ""), typeDirectory = FileAttributeType(rawValue: "")
}
public struct ObjCBool: Sendable, ExpressibleByBooleanLiteral {
    public init(_ b: Bool) {}
    public init(booleanLiteral: Bool) {}
    public var boolValue: Bool { true }
}
public func NSTemporaryDirectory() -> String { "" }
open class NSNumber: NSObject, @unchecked Sendable {
    open var int64Value: Int64 { 0 }
    open var intValue: Int { 0 }
    open var uint64Value: UInt64 { 0 }
}
open class ProcessInfo: NSObject, @unchecked Sendable {
    public class var processInfo: ProcessInfo { fatalError() }
    open var environment: [String: String] { [:] }
    open var arguments: [String] { [] }
    open var systemUptime: TimeInterval { 0 }
    open var activeProcessorCount: Int { 1 }
}
open class FileHandle: NSObject, @unchecked Sendable {
    public convenience init(forReadingFrom: URL) throws { fatalError() }
    public convenience init?(forReadingAtPath: String) { fatalError() }
    public func read(upToCount: Int) throws -> Data? { nil }
    public func readToEnd() throws -> Data? { nil }
    open func closeFile() {}
    public func close() throws {}
    public class var standardError: FileHandle { fatalError() }
    public class var standardInput: FileHandle { fatalError() }
    public func write<T: DataProtocol>(contentsOf: T) throws {}
}
open class Pipe: NSObject, @unchecked Sendable {
    public override init() { super.init() }
    open var fileHandleForReading: FileHandle { fatalError() }
    open var fileHandleForWriting: FileHandle { fatalError() }
}
open class Process: NSObject {
    public override init() { super.init() }
    open var executableURL: URL?
    open var arguments: [String]?
    open var environment: [String: String]?
    open var currentDirectoryURL: URL?
    open var standardInput: Any?
    open var standardOutput: Any?
    open var standardError: Any?
    open func run() throws {}
    open func terminate() {}
    open func interrupt() {}
    open func waitUntilExit() {}
    open var isRunning: Bool { true }
    open var terminationStatus: Int32 { 0 }
    open var processIdentifier: Int32 { 0 }
    public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal }
    open var terminationReason: TerminationReason { .exit }
    open var terminationHandler: (@Sendable (Process) -> Void)?
}
@available(*, unavailable) extension Process: @unchecked Sendable {}
extension FileHandle {
    public func readDataToEndOfFile() -> Data { Data() }
    public convenience init(fileDescriptor: Int32, closeOnDealloc: Bool) { fatalError() }
    public convenience init(fileDescriptor: Int32) { fatalError() }
    public var readabilityHandler: (@Sendable (FileHandle) -> Void)? {
        get { nil }
        set {}
    }
    public var availableData: Data { Data() }
    public class var nullDevice: FileHandle { fatalError() }
    public func write(_ d: Data) {}
    public func truncate(atOffset: UInt64) throws {}
    public func seek(toOffset: UInt64) throws {}
    public func seekToEnd() throws -> UInt64 { 0 }
    public convenience init(forWritingTo: URL) throws { fatalError() }
    public var fileDescriptor: Int32 { 0 }
}

open class Bundle: NSObject, @unchecked Sendable {
    public class var main: Bundle { fatalError() }
    public class var allBundles: [Bundle] { [] }
    public init(for: AnyClass) {}
    open var bundleURL: URL { fatalError() }
    open var bundlePath: String { "" }
    open var executableURL: URL? { nil }
    open var executablePath: String? { nil }
}
