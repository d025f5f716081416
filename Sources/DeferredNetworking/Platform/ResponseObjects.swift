internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Support for response objects that cost no more than they must.
///
/// For each field of a response, swift-corelibs-foundation compares the name with "WWW-Authenticate" and capitalises it,
/// by functions for all of Unicode: some 8,000 instructions, and for all fields a quarter of a small request. So
/// Foundation is given only those that it parses, and the others are put into the object before anybody has it. Where
/// they belong is found once, by reflection, and tried; if that fails, as with another version of Foundation, objects are
/// made in the usual way. No issue is known upstream. Tests: `ResponseObjectsTests`.
enum ResponseObjects {
    /// Returns an object that is equal to one of Foundation's.
    ///
    /// - Parameter fields: The values by name, in the spelling of `spelling(of:)`.
    static func make(url: URL, status: Int, version: String, fields: [String: String]) -> HTTPURLResponse? {
        #if canImport(FoundationNetworking)
        make(url: url, status: status, version: version, fields: fields, layout: .found)
        #else
        HTTPURLResponse(url: url, statusCode: status, httpVersion: version, headerFields: fields)
        #endif
    }

    #if canImport(FoundationNetworking)
    /// - Parameter layout: `nil` for an object that is made in the usual way.
    static func make(
        url: URL,
        status: Int,
        version: String,
        fields: [String: String],
        layout: ResponseLayout?
    ) -> HTTPURLResponse? {
        var parsed = fields
        if layout != nil {
            parsed = [:]
            for name in ["Content-Type", "Content-Disposition"] { parsed[name] = fields[name] }
        }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: version, headerFields: parsed)
        if let layout, let response {
            layout.put(fields, length: fields["Content-Length"].flatMap { Int64($0) }, into: response)
        }
        return response
    }
    #endif

    /// Returns the name under which Foundation keeps a field.
    static func spelling(of name: String) -> String {
        #if canImport(FoundationNetworking)
        if name.utf8.count == 16, HTTPToken.areEqualWithoutCase(name, "WWW-Authenticate") { return "WWW-Authenticate" }
        return switch name.withBytes(Spelling.init) {
        case .kept: name
        case .capitalised: capitalised(name)
        case .unknown: name.capitalized
        }
        #else
        return name
        #endif
    }

    #if canImport(FoundationNetworking)
    private enum Spelling {
        /// As it is: it begins with "X-", or has its capitals already.
        case kept
        case capitalised
        /// Foundation knows better what a letter is, and which characters it may pass over.
        case unknown

        /// Behind these, a letter is like the one before them.
        private static let passedOver = ByteSet("'^`")

        init(_ name: UnsafeBufferPointer<UInt8>) {
            self = .kept
            if name.count > 1, name[0] | 0x20 == UInt8(ascii: "x"), name[1] == UInt8(ascii: "-") { return }
            var isAfterLetter = false
            for byte in name {
                let isLetter = isLetter(byte)
                if isLetter, (byte & 0x20 != 0) != isAfterLetter { self = .capitalised }
                if !isLetter, byte >= 0x80 || Self.passedOver.contains(byte) {
                    self = .unknown
                    return
                }
                isAfterLetter = isLetter
            }
        }
    }

    /// Returns a name of ASCII characters with each letter in lower case, except those not preceded by another one.
    private static func capitalised(_ name: String) -> String {
        name.withBytes { name in
            String(unsafeUninitializedCapacity: name.count) { result in
                var isAfterLetter = false
                for (index, byte) in name.enumerated() {
                    let isLetter = isLetter(byte)
                    result.initializeElement(
                        at: index,
                        to: !isLetter ? byte : isAfterLetter ? byte | 0x20 : byte & ~0x20
                    )
                    isAfterLetter = isLetter
                }
                return name.count
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    #endif
}

#if canImport(FoundationNetworking)
/// The places of properties in a response object, which have no setters.
struct ResponseLayout {
    /// The places that were found and tried; `nil` if there are none.
    static let found: ResponseLayout? = {
        guard let layout = ResponseLayout(), let response = ProbedResponse(length: 1) else { return nil }
        let fields = ["B": "2"]
        layout.put(fields, length: 3, into: response)
        let isRight = response.allHeaderFields as? [String: String] == fields && response.expectedContentLength == 3
        return isRight && response.value(forHTTPHeaderField: "b") == "2" ? layout : nil
    }()

    // Distances from the beginning of the object, in bytes.
    private let fields: Int
    private let length: Int

    /// Looks for the only words in an object that are the same as the dictionary and the length that it says it has.
    private init?() {
        guard let response = ProbedResponse(length: 0x5EED_0123_4567_89AB),
            let member = Mirror(reflecting: response).superclassMirror?.descendant("_allHeaderFields"),
            let fields = member as? [String: String], MemoryLayout<[String: String]>.size == MemoryLayout<UInt>.size,
            let fieldsPlace = response.place(of: unsafeBitCast(fields, to: UInt.self)),
            let lengthPlace = response.place(of: UInt(response.expectedContentLength))
        else { return nil }
        (self.fields, length) = (fieldsPlace, lengthPlace)
    }

    /// - Parameter length: The value of the field; `nil` for the -1 that the object has without one.
    ///
    /// SAFETY: nobody else has the object yet. The properties are read only by functions of another module, which are not
    /// inlined.
    func put(_ fields: [String: String], length: Int64?, into response: HTTPURLResponse) {
        let object = Unmanaged.passUnretained(response).toOpaque()
        (object + self.fields).assumingMemoryBound(to: [String: String].self).pointee = fields
        if let length { (object + self.length).assumingMemoryBound(to: Int64.self).pointee = length }
    }
}

/// A response whose words can be read up to a certain one.
///
/// SAFETY: this class adds a constant to its superclass.
private final class ProbedResponse: HTTPURLResponse, @unchecked Sendable {
    private static let lastWord: UInt = 0x1E37_79B9_7F4A_7C15

    /// Follows what the object has of its superclass.
    private let lastWord = ProbedResponse.lastWord

    convenience init?(length: Int) {
        let fields = ["Content-Length": String(length)]
        self.init(url: URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: nil, headerFields: fields)
    }

    /// Returns the offset of the only word that is `sought`, in bytes.
    func place(of sought: UInt) -> Int? {
        let object = Unmanaged.passUnretained(self).toOpaque()
        var (offset, offsets) = (0, [Int]())
        while case let word = object.load(fromByteOffset: offset, as: UInt.self), word != lastWord {
            if word == sought { offsets.append(offset) }
            offset += MemoryLayout<UInt>.size
        }
        return offsets.count == 1 ? offsets[0] : nil
    }
}
#endif
