#if os(Linux)
import CLibcurl
import Foundation

/// Undoes the content codings of a response's body: RFC 9110, section 8.4.
///
/// This is not left to libcurl, which takes a compressed body that was cut short for a whole one.
struct ContentDecoder {
    /// Why a body can't be decoded.
    struct Flaw: Error {
        let description: String
    }

    /// What a request says that it accepts.
    static let accepted: String = {
        let codings: [(String, content_coding)] = [
            ("gzip", content_coding_gzip), ("deflate", content_coding_zlib), ("br", content_coding_brotli),
        ]
        let available = codings.compactMap { name, coding in
            content_decoder_create(coding).map { decoder in
                content_decoder_destroy(decoder)
                return name
            }
        }
        return available.isEmpty ? "identity" : available.joined(separator: ", ")
    }()

    /// More would multiply what a few bytes can ask for.
    private static let mostCodings = 5

    /// In the order in which they are undone.
    private var stages: [Stage]

    /// - Parameter codings: the value of `Content-Encoding`.
    /// - Returns: nil when there is nothing to undo.
    init?(_ codings: String) throws(Flaw) {
        let names = codings.split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            .filter { !["", "identity", "none"].contains($0) }
        guard !names.isEmpty else { return nil }
        guard names.count <= Self.mostCodings else {
            throw Flaw(description: "The response has \(names.count) content codings")
        }
        stages = []
        for name in names.reversed() {
            stages.append(Stage(try Self.coding(named: name)))
        }
    }

    private static func coding(named name: String) throws(Flaw) -> Stage.Coding {
        switch name {
        case "gzip", "x-gzip": return .gzip
        case "deflate": return .deflate
        case "br": return .brotli
        default: throw Flaw(description: "The response has the unknown content coding \(DisplayText.quoted(name))")
        }
    }

    /// Decodes what came, and hands it on in pieces.
    func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ output: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try decode(bytes, stage: 0, output)
    }

    /// Called at the end of the body.
    ///
    /// - Throws: a flaw when a coding has not come to its end. A body without a byte has none.
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

/// One coding.
private final class Stage {
    enum Coding {
        case gzip, deflate, brotli
    }

    private static let pieceSize = 64 << 10

    private let coding: Coding
    private var decoder: content_decoder?
    private var hasEnded = false
    private var hasBegun = false

    /// The first byte of a deflated body, until the second tells whether it has zlib's header.
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
        // Some servers send deflate without zlib's header, which all clients take.
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
                    // It wants more than there is.
                    return
                }
            }
        }
    }

    /// The decoder for what is left, or nil when nothing is.
    private func nextDecoder(_ rest: Int) throws -> content_decoder? {
        if hasEnded {
            guard rest > 0 else { return nil }
            // Gzip may have several members (RFC 1952, section 2.2); after the others, nothing may come.
            guard coding == .gzip else { throw ContentDecoder.Flaw(description: "Bytes follow the compressed body") }
            hasEnded = false
            if let decoder { content_decoder_destroy(decoder) }
            decoder = nil
        }
        if decoder == nil {
            decoder = content_decoder_create(coding == .brotli ? content_coding_brotli : content_coding_gzip)
        }
        guard let decoder else {
            throw ContentDecoder.Flaw(description: "The system's library for this content coding is missing")
        }
        return decoder
    }
}
#endif
