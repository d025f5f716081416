#if os(Linux)
import CLibcurl
import Foundation

/// Decodes the content codings of a response's body: RFC 9110, section 8.4.
///
/// This is not left to libcurl, which accepts a truncated compressed body as complete.
struct ContentDecoder {
    /// The value of `Accept-Encoding` in requests: the codings whose libraries are available.
    static let accepted =
        available.isEmpty ? "identity" : available.map(\.name).joined(separator: ", ")

    /// The codings whose libraries are available.
    private static let available: [(name: String, coding: content_coding)] = {
        let codings = [
            ("gzip", content_coding_gzip), ("deflate", content_coding_zlib), ("br", content_coding_brotli),
            ("zstd", content_coding_zstd),
        ]
        return codings.filter { _, coding in
            guard let decoder = content_decoder_create(coding) else { return false }
            content_decoder_destroy(decoder)
            return true
        }
    }()

    /// More codings would let a few bytes expand too far.
    private static let mostCodings = 5

    /// The decoding stages, in the order in which they are applied.
    private var stages: [Stage]

    /// - Parameters:
    ///   - codings: the value of `Content-Encoding`.
    ///   - accepted: the request's own `Accept-Encoding`, if it has one. If the response has an unknown coding that it
    ///     names, nothing is decoded.
    /// - Returns: nil when there is nothing to decode.
    init?(_ codings: String, accepted: String? = nil) throws(ResponseFlaw) {
        let names = Self.names(in: codings).filter { !["", "identity", "none"].contains($0) }
        guard !names.isEmpty else { return nil }
        guard names.count <= Self.mostCodings else {
            throw ResponseFlaw(description: "The response has \(names.count) content codings")
        }
        stages = []
        for name in names.reversed() {
            let name = name == "x-gzip" ? "gzip" : name
            guard let coding = Self.available.first(where: { $0.name == name })?.coding else {
                let asked = accepted.map(Self.names) ?? []
                if asked.contains(name) || asked.contains("*") { return nil }
                let coding = DisplayText.quoted(name)
                throw ResponseFlaw(description: "The response has the unknown content coding \(coding)")
            }
            stages.append(Stage(coding))
        }
    }

    /// Returns the names in a list, in lower case and without their parameters.
    private static func names(in list: String) -> [String] {
        FieldList.members(of: list).map { FieldList.trimmed($0.prefix { $0 != ";" }).lowercased() }
    }

    /// Decodes received bytes, and passes the result on in chunks.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try decode(bytes, stage: 0, output)
    }

    /// Checks, at the end of the body, that it is complete.
    ///
    /// - Throws: a flaw if the data of a coding is incomplete. An empty body is complete.
    func finish() throws(ResponseFlaw) {
        guard stages.allSatisfy(\.isComplete) else {
            throw ResponseFlaw(description: "The compressed body ends too early")
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        stage: Int,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard stage < stages.count else { return try output(bytes) }
        try stages[stage].decode(bytes) { try decode($0, stage: stage + 1, output) }
    }
}

/// A decoder of one coding.
private final class Stage {
    private static let pieceSize = 64 << 10

    private let coding: content_coding
    private var decoder: content_decoder?
    private var hasEnded = false
    private var hasBegun = false

    /// The first byte of a deflated body, until the second one shows whether the body has a zlib header.
    private var firstByte: UInt8?

    var isComplete: Bool { hasEnded || !hasBegun }

    /// True if a body may consist of several parts, each of which ends by itself: RFC 1952, section 2.2, and RFC 8878,
    /// section 3.1.
    private var hasMembers: Bool { coding == content_coding_gzip || coding == content_coding_zstd }

    init(_ coding: content_coding) {
        self.coding = coding
    }

    deinit {
        if let decoder { content_decoder_destroy(decoder) }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !bytes.isEmpty else { return }
        hasBegun = true
        guard coding == content_coding_zlib, decoder == nil else { return try run(bytes, output) }
        // Some servers send deflate without the zlib header, and all clients accept that.
        guard let first = firstByte ?? (bytes.count > 1 ? bytes[0] : nil) else {
            firstByte = bytes[0]
            return
        }
        let second = firstByte == nil ? bytes[1] : bytes[0]
        let hasHeader = first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
        decoder = content_decoder_create(hasHeader ? content_coding_zlib : content_coding_raw_deflate)
        if var held = firstByte.take() {
            try withUnsafeBytes(of: &held) { try run($0, output) }
        }
        try run(bytes, output)
    }

    private func run(_ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void) throws {
        var input = bytes.bindMemory(to: UInt8.self).baseAddress
        var rest = bytes.count
        try withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { piece in
            let target = piece.bindMemory(to: UInt8.self).baseAddress
            while true {
                let decoder = try nextDecoder(rest)
                guard let decoder else { return }
                var count = 0
                let before = rest
                let result = content_decoder_decode(decoder, &input, &rest, target, Self.pieceSize, &count)
                if count > 0 { try output(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
                if result == content_decoding_failed {
                    throw ResponseFlaw(description: "The compressed body is corrupt")
                }
                if result == content_decoding_ended {
                    hasEnded = true
                    if rest == 0 { return }
                } else if count == 0, rest == before || rest == 0 {
                    // The decoder needs more input.
                    return
                }
            }
        }
    }

    /// Returns the decoder for the remaining input, or nil if there is none.
    private func nextDecoder(_ rest: Int) throws -> content_decoder? {
        if hasEnded {
            guard rest > 0 else { return nil }
            guard hasMembers else { throw ResponseFlaw(description: "Bytes follow the compressed body") }
            hasEnded = false
            if let decoder { content_decoder_destroy(decoder) }
            decoder = nil
        }
        if decoder == nil {
            decoder = content_decoder_create(coding)
        }
        guard let decoder else {
            throw ResponseFlaw(description: "The system's library for this content coding is missing")
        }
        return decoder
    }
}
#endif
