extension Scenario: CustomStringConvertible {
    /// The parts that are in use, as short as possible.
    var description: String {
        var lines: [String] = []
        for (index, chain) in chains.enumerated() where index < Self.sideChain || !chain.links.isEmpty {
            var line =
                "chain \(index): " + (chain.links.isEmpty ? "-" : chain.links.map(name).joined(separator: " --> "))
            if chain.joining != .generic { line += ", joined \(chain.joining)" }
            if chain.resetsLater { line += ", resets later" }
            if !chain.hasTerminal { line += ", no terminal loader" }
            lines.append(line)
        }
        for (index, ask) in asks.enumerated() where steps.contains(.load(index)) {
            lines.append("request \(index): \(ask.text)")
        }
        if !refreshes.isEmpty {
            lines.append(
                "refreshes: "
                    + refreshes.map { Self.text("\($0.succeeds)", $0.isHeld, $0.ignoresCancel) }.joined(separator: ", ")
            )
        }
        for trigger in triggers {
            let moment = trigger.isReturn ? "returns from" : "arrives at"
            lines.append("when request \(trigger.ask) \(moment) \(name(trigger.value)): \(trigger.deed)")
        }
        lines.append(
            "steps: " + steps.map { "\($0)".replacing("DeferredHTTPTests.Scenario.", with: "") }.joined(separator: ", ")
        )
        return lines.map { "  " + $0 }.joined(separator: "\n").replacing("DeferredHTTPTests.Scenario.", with: "")
    }

    private func name(_ value: Int) -> String { "\(value):\(values[value])" }

    fileprivate static func text(_ outcome: String, _ isHeld: Bool, _ ignoresCancel: Bool) -> String {
        outcome + (isHeld ? " held" : "") + (ignoresCancel ? " ignoring cancel" : "")
    }
}

extension Scenario.Ask {
    fileprivate var text: String {
        var words = [isPost ? "POST" : "GET", "\(host ?? "-")/\(path)", "chain \(chain)", "by \(form)"]
        if isStream { words.append("stream") }
        if !isThrottled { words.append("unthrottled") }
        if let isDeduplicated { words.append("deduplicated \(isDeduplicated)") }
        if !isAuthenticated { words.append("unauthenticated") }
        if !isRetried { words.append("never retried") }
        if hasDeadline { words.append("own deadline") }
        if isCancelledBefore { words.append("cancelled before") }
        words += answers.map { Scenario.text("\($0.outcome)", $0.isHeld, $0.ignoresCancel) }
        return words.joined(separator: ", ")
    }
}
