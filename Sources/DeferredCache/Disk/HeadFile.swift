internal import DeferredNetworking
internal import Foundation

/// The contents of a head file: what is stored of one resource, in up to eight variants, without the bodies.
///
/// The file begins with a magic number, a version, the length of the rest, and its checksum. A file that differs in any
/// byte from what was written is no head file.
struct HeadFile: Sendable {
    /// A response, and how its body is found.
    struct Stored: Sendable {
        var head: StoredHead
        /// Names the body's file.
        let version: UInt64
        /// One of each block of the body.
        let checksums: [UInt64]
    }

    static let magic = Array("DEFHTTPC".utf8)
    static let version: UInt32 = 1
    /// Of a body of four gigabytes, the checksums are half a megabyte.
    static let sizeLimit = 16 << 20

    let key: String
    var variants: [Stored]
    /// The number of bytes that the file has; 0 for one that is not written yet.
    var size: Int64 = 0

    /// Removes variants, and returns them.
    mutating func remove(where isGone: (Stored) -> Bool) -> [Stored] {
        defer { variants.removeAll(where: isGone) }
        return variants.filter(isGone)
    }

    // MARK: Writing

    /// - Parameter process: Identifies the process, whose steady clock nobody else can read.
    func bytes(process: UInt64) -> Data {
        var payload = Writer()
        payload.write(key)
        payload.write(UInt32(variants.count))
        for variant in variants {
            let head = variant.head
            payload.write(UInt32(head.status.code))
            payload.write(head.extent.first)
            payload.write(head.extent.count)
            payload.write(head.extent.total)
            payload.write(head.ageValue)
            for instant in [head.requestTime, head.responseTime] {
                payload.write(instant.wall)
                payload.write(instant.steady ?? -1)
            }
            payload.write(process)
            payload.write(UInt32(head.headers.count))
            for field in head.headers {
                payload.write(field.name)
                payload.write(field.value)
            }
            payload.write(UInt32(head.variant.names.count))
            for name in head.variant.names { payload.write(name) }
            payload.write(head.variant.digest)
            payload.write(head.variant.languageDigest)
            payload.write(variant.version)
            payload.write(UInt32(variant.checksums.count))
            for checksum in variant.checksums { payload.write(checksum) }
        }
        var result = Writer()
        result.bytes += Self.magic
        result.write(Self.version)
        result.write(UInt32(payload.bytes.count))
        result.write(payload.bytes.withUnsafeBytes(XXHash64.hash))
        result.bytes += payload.bytes
        return result.bytes
    }

    private struct Writer {
        var bytes = Data()

        mutating func write<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func write(_ text: String) { write(Array(text.utf8)) }

        mutating func write(_ bytes: [UInt8]) {
            write(UInt32(bytes.count))
            self.bytes += bytes
        }
    }

    // MARK: Reading

    /// - Returns: `nil` for anything that was not written by ``bytes(process:)``.
    init?(_ bytes: Data, process: UInt64) {
        var reader = Reader(bytes: bytes)
        guard reader.take(Self.magic.count).map(Array.init) == Self.magic,
            reader.number(UInt32.self) == Self.version,
            let count = reader.number(UInt32.self), let checksum = reader.number(UInt64.self),
            reader.bytes.count == Int(count), reader.bytes.withUnsafeBytes(XXHash64.hash) == checksum,
            let key = reader.text(), let variants = reader.list({ $0.variant(of: process) }), reader.bytes.isEmpty
        else { return nil }
        self.key = key
        self.variants = variants
        size = Int64(bytes.count)
    }

    init(key: String, variants: [Stored]) {
        self.key = key
        self.variants = variants
    }

    private struct Reader {
        var bytes: Data

        mutating func take(_ count: Int) -> Data? {
            guard count <= bytes.count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }

        mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            take(MemoryLayout<Number>.size).map { bytes in
                bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
            }
        }

        mutating func array() -> [UInt8]? {
            guard let count = number(UInt32.self) else { return nil }
            return take(Int(count)).map(Array.init)
        }

        mutating func text() -> String? { array().map { String(decoding: $0, as: UTF8.self) } }

        mutating func instant() -> CacheInstant? {
            guard let wall = number(Int64.self), let steady = number(Int64.self) else { return nil }
            return CacheInstant(wall: wall, steady: steady < 0 ? nil : steady)
        }

        mutating func list<Element>(_ element: (inout Reader) -> Element?) -> [Element]? {
            guard let count = number(UInt32.self) else { return nil }
            var result: [Element] = []
            for _ in 0..<count {
                guard let element = element(&self) else { return nil }
                result.append(element)
            }
            return result
        }

        mutating func variant(of process: UInt64) -> Stored? {
            guard let status = number(UInt32.self), let first = number(Int64.self),
                let count = number(Int64.self),
                let total = number(Int64.self), let age = number(Int64.self), var requestTime = instant(),
                var responseTime = instant(), let writer = number(UInt64.self),
                let fields = list({ reader in
                    reader.text().flatMap { name in
                        reader.text().map { HTTPHeaders.Field(name: name, value: $0) }
                    }
                }),
                let names = list({ $0.text() }), let digest = array(), let languageDigest = array(),
                let version = number(UInt64.self),
                let checksums = list({ $0.number(UInt64.self) })
            else { return nil }
            if writer != process { (requestTime.steady, responseTime.steady) = (nil, nil) }
            let head = StoredHead(
                status: HTTPStatus(Int(status)),
                headers: HTTPHeaders(fields),
                variant: Variant(names: names, digest: digest, languageDigest: languageDigest),
                extent: .init(first: first, count: count, total: total),
                requestTime: requestTime,
                responseTime: responseTime,
                ageValue: age
            )
            return Stored(head: head, version: version, checksums: checksums)
        }
    }
}
