import AsyncHTTPClient
import Deferred
import Dispatch
import Foundation
import NIOCore
import NIOFoundationCompat

extension HTTPClientResponse {
    private var bodyLength: Int64? { headers.first(name: "Content-Length").flatMap { Int64($0) } }

    /// The whole body.
    ///
    /// - Throws: `NIOTooManyBytesError` if it is larger than `limit`.
    func collect(upTo limit: Int, _ onProgress: (Int64, Int64?) -> Void) async throws -> Data {
        var data = Data()
        for try await buffer in body {
            guard buffer.readableBytes <= limit - data.count else { throw NIOTooManyBytesError(maxBytes: limit) }
            data.append(contentsOf: buffer.readableBytesView)
            onProgress(Int64(data.count), bodyLength)
        }
        return data
    }

    /// The first bytes of the body.
    func prefix(_ count: Int) async throws -> Data {
        var data = Data()
        for try await buffer in body {
            data.append(contentsOf: buffer.readableBytesView.prefix(count - data.count))
            if data.count == count { break }
        }
        return data
    }

    /// Writes the body into a file beside `file`, which takes its place when it is whole.
    func write(to file: URL, _ onProgress: (Int64, Int64?) -> Void) async throws {
        let part = file.appendingPathExtension("\(UUID()).partial")
        let handle = try await Task.async(on: .global()) {
            try Data().write(to: part, options: .withoutOverwriting)
            return try FileHandle(forWritingTo: part)
        }.get()
        do {
            var count: Int64 = 0
            for try await buffer in body {
                try await Task.async(on: .global()) { try handle.write(contentsOf: buffer.readableBytesView) }.get()
                count += Int64(buffer.readableBytes)
                onProgress(count, bodyLength)
            }
            try handle.close()
            guard rename(part.path, file.path) == 0 else { throw CocoaError.error(.fileWriteUnknown, url: file) }
        } catch {
            try? handle.close()
            try? FileManager.default.removeItem(at: part)
            throw error
        }
    }
}
