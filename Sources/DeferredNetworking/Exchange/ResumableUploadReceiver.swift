package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gathers a response in memory, and lets another attempt send only what the server has not received of the request's body,
/// if the server offers that: draft-ietf-httpbis-resumable-upload.
///
/// A server offers it by an interim response, whose `Location` is that of the upload. After an attempt that broke off, the
/// next one asks there how much has arrived, and sends the rest.
struct ResumableUploadReceiver: ResponseReceiver {
    /// The version of the draft.
    private static let version = "8"

    private enum Step {
        case send

        /// Asks how many bytes have arrived.
        case ask(URL)

        /// Sends the bytes from an offset on.
        case append(URL, Int64)
    }

    private let body: ResumableBody
    private var response: DataReceiver
    private var step = Step.send

    /// The URL of the caller's request.
    private var url: URL?

    /// The URL of the upload, once the server has offered it.
    private var upload: URL?

    init(_ body: ResumableBody, _ response: DataReceiver) {
        self.body = body
        self.response = response
    }

    var isResumable: Bool { upload != nil }

    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) throws -> CheckedRequest {
        url = request.url
        switch step {
        case .send:
            return request.setting("?1", for: "Upload-Complete")
                .setting(Self.version, for: "Upload-Draft-Interop-Version")
        case .ask(let upload):
            return try request.following(self.request(like: request, "HEAD", upload), body: .inRequest)
        case .append(let upload, let offset):
            var next = self.request(like: request, "PATCH", upload)
            next.setValue("?1", forHTTPHeaderField: "Upload-Complete")
            next.setValue("\(offset)", forHTTPHeaderField: "Upload-Offset")
            next.setValue("application/partial-upload", forHTTPHeaderField: "Content-Type")
            let rest = body.setRest(from: offset, in: &next)
            return try request.following(next, body: rest)
        }
    }

    /// Returns a request to the upload, which has the caller's fields but those of the body: it is of the same origin.
    private func request(like request: CheckedRequest, _ method: String, _ upload: URL) -> URLRequest {
        var result = request.request
        (result.url, result.httpMethod, result.httpBody, result.httpBodyStream) = (upload, method, nil, nil)
        for name in (result.allHTTPHeaderFields ?? [:]).keys where name.lowercased().hasPrefix("content-") {
            result.setValue(nil, forHTTPHeaderField: name)
        }
        result.setValue(Self.version, forHTTPHeaderField: "Upload-Draft-Interop-Version")
        result.cachePolicy = .reloadIgnoringLocalCacheData
        return result
    }

    mutating func receive(interim head: ResponseHead) {
        // Another origin would get the caller's credentials.
        let locations = head.headers.values(for: "Location")
        guard case .send = step, head.status == 104, locations.count == 1, let location = locations.first, let url,
            let target = URLReference.resolved(location, against: head.url), Origin(of: target) == Origin(of: url),
            target.user(percentEncoded: true) == nil
        else { return }
        upload = target
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
        if case .ask = step { return .take }
        return response.receive(head: head, of: exchange)
    }

    mutating func receive(bytes: Data) throws {
        if case .ask = step { return }
        try response.receive(bytes: bytes)
    }

    func report(_ progress: BodyProgress) {
        switch (step, progress.direction) {
        case (.ask, _): break
        case (.append(_, let offset), .sent): response.report(.sent(offset + progress.completed, of: body.length))
        case (.append, .received), (.send, _): response.report(progress)
        }
    }

    mutating func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        if case .ask(let upload) = step {
            switch result {
            case .success(let answer): return goOn(to: upload, answer)
            case .failure(let error): return .result(.failure(error))
            }
        }
        if upload != nil, case .success(let head) = result, head.value(of: "Upload-Complete") == "?0" {
            return fail("says that it isn't complete")
        }
        // What has come of this one counts, if there is another attempt.
        step = upload.map { .ask($0) } ?? .send
        return response.finish(result)
    }

    private mutating func goOn(to upload: URL, _ answer: ResponseHead) -> AttemptEnd {
        guard answer.status.isSuccess else {
            // It is gone, unless it only can't be asked now, or not with this credential.
            if answer.status.isClientError, ![401, 408, 429].contains(answer.status) { forget() }
            return .result(.failure(RefusedBody(of: answer).error))
        }
        guard answer.value(of: "Upload-Complete") != "?1" else {
            return fail("has all of the body, but the response was lost")
        }
        guard let offset = answer.value(of: "Upload-Offset").flatMap(HTTPNumber.parse), offset <= body.length else {
            return fail("doesn't say how much of the body it has")
        }
        step = .append(upload, offset)
        return .startOver
    }

    private mutating func forget() { (upload, step) = (nil, .send) }

    private mutating func fail(_ what: String) -> AttemptEnd {
        forget()
        let description = "The upload can't go on: the server \(what)"
        return .result(.failure(URLError(.badServerResponse, failing: url, description: description)))
    }
}

/// A body of which any part can be sent again.
package enum ResumableBody: Sendable {
    case data(Data)

    /// A file, with its length when the upload began.
    case file(URL, length: Int64)

    var length: Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        }
    }

    /// Makes the bytes from an offset on the body of a request.
    func setRest(from offset: Int64, in request: inout URLRequest) -> CheckedRequest.Body {
        switch self {
        case .data(let data):
            request.httpBody = data.dropFirst(Int(offset))
            return .inRequest
        case .file(let file, let length):
            return .streamed(StreamedBody(of: file, range: offset..<length), nil)
        }
    }
}
