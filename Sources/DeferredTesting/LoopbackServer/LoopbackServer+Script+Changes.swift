extension LoopbackServer.Script {
    /// Returns this script after a wait.
    public func delayed(by duration: Duration) -> Self {
        [.pause(duration)] + self
    }

    /// Returns this script with all bytes, head included, sent one at a time, or in pieces of `size` bytes.
    ///
    /// A response of 200 bytes takes 200 times `interval` with the default size.
    ///
    /// - Parameters:
    ///   - size: Bytes per piece; by default one.
    ///   - interval: The wait between two pieces, in whole milliseconds, rounded up.
    public func dripped(_ size: Int = 1, every interval: Duration) -> Self {
        var script = self
        script.steps = steps.map { step in
            if case .send(let payload) = step { .drip(payload, size: size, every: interval) } else { step }
        }
        return script
    }

    /// Returns this script cut after it has sent `limit` bytes, head included; the connection is closed there.
    ///
    /// To cut the body at a known place instead, claim a greater length than that of the body and close:
    /// `.response(body: "Hel", contentLength: 5) + [.close]`.
    public func truncated(after limit: Int) -> Self {
        var left = limit
        var result: [Step] = []
        for step in steps where left > 0 {
            switch step {
            case .send(let payload):
                result.append(.send(payload.prefix(left)))
                left -= payload.count
            case .drip(let payload, let size, let interval):
                result.append(.drip(payload.prefix(left), size: size, every: interval))
                left -= payload.count
            case .pause, .receive, .echo, .stall, .close, .reset:
                result.append(step)
            }
        }
        var script = self
        script.steps = result + [.close]
        return script
    }

    /// Repeats a script: `.repeating([.receive(1_000), .pause(.milliseconds(5))], count: 100)` reads slowly.
    public static func repeating(_ script: Self, count: Int) -> Self {
        Self((0..<max(0, count)).flatMap { _ in script.steps })
    }
}
