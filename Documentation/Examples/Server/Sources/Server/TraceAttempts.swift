import Deferred
import Tracing

/// Makes a span for each attempt of a request, and tells the server of it: `traceparent`, or what the tracer uses.
///
/// It comes after `Retry`, so that it sees each attempt. All of them have the same parent, the span around the call of
/// `load`: the loaders keep its task-local values for later attempts.
struct TraceAttempts: HTTPLink {
    var tracer: any Tracer = InstrumentationSystem.tracer

    func load(_ task: HTTPTask, next: any HTTPLoader) {
        var request = task.request
        let span = tracer.startAnySpan("\(request.method)", ofKind: .client)
        span.attributes["http.request.method"] = "\(request.method)"
        span.attributes["server.address"] = request.host
        tracer.inject(span.context, into: &request.headers, using: HeaderInjector())

        let attempt = task.pass(request, to: next) { result in
            span.end(with: result)
            task.complete(with: result)
        }
        // The request was cancelled before.
        if attempt == nil { span.end() }
    }
}

extension Span {
    fileprivate func end(with result: HTTPResult) {
        switch result {
        case .success(let response):
            attributes["http.response.status_code"] = response.status.code
            if response.status.code >= 400 { setStatus(SpanStatus(code: .error)) }
        case .failure(let error):
            attributes["error.type"] = error.code.rawValue
            // Its description leaves secrets out.
            setStatus(SpanStatus(code: .error, message: "\(error)"))
        }
        end()
    }
}

private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey name: String, into headers: inout HTTPHeaders) { headers[name] = value }
}
