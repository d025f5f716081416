import TestSupport
import Testing

@testable import fetch

@Suite("Schedule", .ownThread, .timeLimit(.minutes(1)))
struct ScheduleTests {
    private static let policy = RetryPolicy(attempts: 2, firstDelay: .seconds(1), longestDelay: .seconds(9))

    private func schedule(_ jobs: Int, maximum: Int = 1) -> Schedule {
        Schedule(jobCount: jobs, maximum: maximum, policy: Self.policy)
    }

    /// A schedule of one job in each phase, before or after `stop`.
    private func schedule(in phase: Schedule.Phase, stopped: Bool = false) -> Schedule {
        var schedule = schedule(1)
        switch phase {
        case .waiting: break
        case .running: _ = schedule.start()
        case .backingOff:
            _ = schedule.start()
            _ = schedule.failed(job: 0, isTransient: true)
        case .ended:
            _ = schedule.start()
            _ = schedule.succeeded(job: 0)
        }
        if stopped { _ = schedule.stop() }
        return schedule
    }

    @Test("No jobs are finished at once")
    func empty() {
        var schedule = schedule(0)
        #expect(schedule.start() == [.finish])
    }

    @Test("Jobs begin in order, as many as may run")
    func order() {
        var schedule = schedule(4, maximum: 2)
        #expect(schedule.start() == [.begin(job: 0, attempt: 1), .begin(job: 1, attempt: 1)])
        #expect(schedule.succeeded(job: 1) == [.end(job: 1, .saved), .begin(job: 2, attempt: 1)])
        #expect(
            schedule.failed(job: 0, isTransient: false) == [
                .end(job: 0, .failed(attempts: 1)), .begin(job: 3, attempt: 1),
            ]
        )
        #expect(schedule.succeeded(job: 2) == [.end(job: 2, .saved)])
        #expect(schedule.succeeded(job: 3) == [.end(job: 3, .saved), .finish])
    }

    @Test("A job that backs off makes room, and goes first when it is due")
    func backingOff() {
        var schedule = schedule(3)
        _ = schedule.start()
        #expect(schedule.failed(job: 0, isTransient: true) == [.wait(job: 0, .seconds(1)), .begin(job: 1, attempt: 1)])
        #expect(schedule.retryDue(job: 0) == [])
        #expect(schedule.succeeded(job: 1) == [.end(job: 1, .saved), .begin(job: 0, attempt: 2)])
        #expect(
            schedule.failed(job: 0, isTransient: true) == [
                .end(job: 0, .failed(attempts: 2)), .begin(job: 2, attempt: 1),
            ]
        )
    }

    @Test("Stopping ends what waits, and cancels what runs")
    func stopping() {
        var schedule = schedule(4, maximum: 2)
        _ = schedule.start()
        _ = schedule.failed(job: 0, isTransient: true)
        #expect(
            schedule.stop() == [
                .end(job: 0, .stopped), .cancel(job: 1), .cancel(job: 2), .end(job: 3, .stopped),
            ]
        )
        #expect(schedule.stop() == [])
        #expect(schedule.succeeded(job: 1) == [.end(job: 1, .saved)])
        #expect(schedule.failed(job: 2, isTransient: true) == [.end(job: 2, .stopped), .finish])
    }

    @Test("Each event in each phase does what it means, or nothing", arguments: [false, true])
    func table(stopped: Bool) {
        let phases: [Schedule.Phase] = [.waiting(attempt: 1), .running(attempt: 1), .backingOff(attempt: 1), .ended]
        for phase in phases {
            let isRunning = phase == .running(attempt: 1)
            var schedule = schedule(in: phase, stopped: stopped)
            #expect(schedule.isStopping == stopped)
            #expect(schedule.succeeded(job: 0) == (isRunning ? [.end(job: 0, .saved), .finish] : []))

            schedule = self.schedule(in: phase, stopped: stopped)
            let ending: Schedule.Ending = stopped ? .stopped : .failed(attempts: 1)
            #expect(schedule.failed(job: 0, isTransient: false) == (isRunning ? [.end(job: 0, ending), .finish] : []))

            schedule = self.schedule(in: phase, stopped: stopped)
            let transient: [Schedule.Action] =
                stopped ? [.end(job: 0, .stopped), .finish] : [.wait(job: 0, .seconds(1))]
            #expect(schedule.failed(job: 0, isTransient: true) == (isRunning ? transient : []))

            schedule = self.schedule(in: phase, stopped: stopped)
            let isDue = phase == .backingOff(attempt: 1) && !stopped
            #expect(schedule.retryDue(job: 0) == (isDue ? [.begin(job: 0, attempt: 2)] : []))
        }
    }
}
