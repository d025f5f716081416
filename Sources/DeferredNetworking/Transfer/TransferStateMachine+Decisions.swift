import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransferStateMachine {
    /// The task that this machine cancelled has completed, with whatever error.
    mutating func stopped(_ exchange: Exchange, for reason: Stop) -> [Action] {
        switch reason {
        case .redirect(let response):
            return consider(response)
        case .challenge:
            round += 1
            state = .deciding(.challenge(exchange.response, round: round))
            return [.askAboutChallenge(failures: credentials.count, round: round)]
        case .rewind:
            return finish(
                .failure(
                    URLError(
                        .requestBodyStreamExhausted,
                        failing: request.url,
                        description: "The server closed the kept-alive connection before it answered; "
                            + "begin the request again if it may be sent twice"
                    )
                )
            )
        }
    }

    /// The answer to the question of this round. Later and second answers change nothing.
    mutating func answered(_ answer: Answer, round: Int) -> [Action] {
        switch state {
        case .deciding(.redirect(let response, let proposal, round)):
            return answeredRedirect(answer, response: response, proposal: proposal)
        case .deciding(.challenge(let response, round)):
            return answeredChallenge(answer, response: response)
        case .idle, .creating, .running, .stopping, .deciding, .finished:
            return []
        }
    }

    private mutating func consider(_ response: HTTPURLResponse) -> [Action] {
        switch RedirectRules.verdict(on: response, to: request, after: chain, limit: redirectLimit) {
        case .follow(let proposal):
            round += 1
            state = .deciding(.redirect(response, proposal, round: round))
            return [.askAboutRedirect(response, proposal: proposal.request, round: round)]
        case .deliver:
            return deliver(response)
        case .fail(let error):
            return finish(.failure(error))
        }
    }

    /// A redirect itself becomes the result. Its body is lost, with the task that was cancelled or by the platform.
    mutating func deliver(_ response: URLResponse) -> [Action] {
        [.deliverHead(response)] + finish(.success(response))
    }

    private mutating func answeredRedirect(
        _ answer: Answer,
        response: HTTPURLResponse,
        proposal: TransferRequest
    ) -> [Action] {
        switch answer {
        case .follow(let request):
            if let url = self.request.url {
                chain.append(url)
            }
            return reissue(request, after: proposal)
        case .fail(let error):
            return finish(.failure(error))
        case .deliver, .authenticate:
            return deliver(response)
        }
    }

    private mutating func answeredChallenge(_ answer: Answer, response: URLResponse?) -> [Action] {
        if case .fail(let error) = answer {
            return finish(.failure(error))
        }
        if case .authenticate(let user, let password) = answer {
            let credential = Data("\(user):\(password)".utf8).base64EncodedString()
            // The same credential fails the same way: that ends it, with the response that says so.
            if credentials.insert(credential).inserted {
                guard !request.hasOneShotBody else {
                    return finish(.failure(URLError(.requestBodyStreamExhausted, failing: request.url)))
                }
                var next = request.request
                next.setValue("Basic \(credential)", forHTTPHeaderField: "Authorization")
                return reissue(next, after: request)
            }
        }
        // The response and its body were delivered before the challenge came.
        guard let response else {
            return finish(.failure(URLError(.userAuthenticationRequired, failing: request.url)))
        }
        return finish(.success(response))
    }

    /// `request` may come from outside, so it is checked like the first one.
    private mutating func reissue(_ request: URLRequest, after proposal: TransferRequest) -> [Action] {
        let isSameBody = request.httpMethod == proposal.request.httpMethod
        var next = TransferRequest(request, body: isSameBody ? proposal.body : .inRequest)
        switch RequestCheck.normalised(next) {
        case .success(let checked):
            next = checked
        case .failure(let error):
            return finish(.failure(error))
        }
        return create(next)
    }
}
