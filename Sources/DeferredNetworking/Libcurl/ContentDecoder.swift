#if os(Linux)
import CLibcurl
import Foundation

/// Decodes the content codings of a response's body: RFC 9110, section 8.4.
///
/// This is not left to libcurl, which accepts a truncated compressed body as complete.
struct ContentDecoder {
    /// The reason why a body can't be decoded.
    struct Flaw: Error {
        let description: String
    }

    /// The value of `Accept-Encoding` in requests: the codings whose libraries are available.
    static let accepted: String = {
        let codings: [(String, content_coding)] = [
            ("gzip", content_coding_gzip), ("deflate", content_coding_zlib), ("br", content_coding_brotli),
            ("zstd", content_coding_zstd),
        ]
        let available = codings.filter { isAvailable($0.1) }.map(\.0)
        return available.isEmpty ? "identity" : available.joined(separator: ", ")
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
    init?(_ codings: String, accepted: String? = nil) throws(Flaw) {
        let names = Self.names(in: codings).filter { !["", "identity", "none"].contains($0) }
        guard !names.isEmpty else { return nil }
        guard names.count <= Self.mostCodings else {
            throw Flaw(description: "The response has \(names.count) content codings")
        }
        stages = []
        for name in names.reversed() {
            guard let coding = Self.coding(named: name) else {
                let asked = accepted.map(Self.names) ?? []
                if asked.contains(name) || asked.contains("*") { return nil }
                throw Flaw(description: "The response has the unknown content coding \(DisplayText.quoted(name))")
            }
            stages.append(Stage(coding))
        }
    }

    /// Returns the names in a list, in lower case and without their parameters.
    private static func names(in list: String) -> [String] {
        FieldList.members(of: list).map { FieldList.trimmed($0.prefix { $0 != ";" }).lowercased() }
    }

    /// Returns nil for a coding that is unknown, or whose library is missing.
    private static func coding(named name: String) -> Stage.Coding? {
        switch name {
        case "gzip", "x-gzip": .gzip
        case "deflate": .deflate
        case "br" where hasBrotli: .brotli
        case "zstd" where hasZstandard: .zstandard
        default: nil
        }
    }

    private static let hasBrotli = isAvailable(content_coding_brotli)
    private static let hasZstandard = isAvailable(content_coding_zstd)

    private static func isAvailable(_ coding: content_coding) -> Bool {
        guard let decoder = content_decoder_create(coding) else { return false }
        content_decoder_destroy(decoder)
        return true
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
    func finish() throws(Flaw) {
        guard stages.allSatisfy(\.isComplete) else {
            throw Flaw(description: "The compressed body ends too early")
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
    enum Coding {
        case gzip, deflate, brotli, zstandard

        /// True if a body may consist of several parts, each of which ends by itself: RFC 1952, section 2.2, and
        /// RFC 8878, section 3.1.
        var hasMembers: Bool { self == .gzip || self == .zstandard }

        /// The decoder's name; a deflated body needs a look at its first bytes.
        var decoder: content_coding {
            switch self {
            case .gzip, .deflate: content_coding_gzip
            case .brotli: content_coding_brotli
            case .zstandard: content_coding_zstd
            }
        }
    }

    private static let pieceSize = 64 << 10

    private let coding: Coding
    private var decoder: content_decoder?
    private var hasEnded = false
    private var hasBegun = false

    /// The first byte of a deflated body, until the second one shows whether the body has a zlib header.
    private var firstByte: UInt8?

    var isComplete: Bool { hasEnded || !hasBegun }

    init(_ coding: Coding) {
        self.coding = coding
    }

    deinit {
        if let decoder { content_decoder_destroy(decoder) }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !bytes.isEmpty else { return }
        hasBegun = true
        guard coding == .deflate, decoder == nil else { return try run(bytes, output) }
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
                    throw ContentDecoder.Flaw(description: "The compressed body is corrupt")
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
            guard coding.hasMembers else { throw ContentDecoder.Flaw(description: "Bytes follow the compressed body") }
            hasEnded = false
            if let decoder { content_decoder_destroy(decoder) }
            decoder = nil
        }
        if decoder == nil {
            decoder = content_decoder_create(coding.decoder)
        }
        guard let decoder else {
            throw ContentDecoder.Flaw(description: "The system's library for this content coding is missing")
        }
        return decoder
    }
}
#endif
