import Deferred
import DeferredTesting
import Foundation
import Profile
import ProfileInSwift5
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ProfileTests {
    private let client = URLClient()

    @Test func `a user is decoded on the main actor`() async throws {
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        let model = Profile.ProfileModel(client: client)
        await model.load(server.url("/"))
        #expect(model.user?.name == "Ada" && model.message == nil)

        let older = ProfileInSwift5.ProfileModel(client: client)
        await older.load(server.url("/"))
        #expect(older.user?.name == "Ada")
    }

    @Test func `a body that is no user is shown as an error`() async throws {
        let server = try LoopbackServer { _ in .json("[]") }
        let model = Profile.ProfileModel(client: client)
        await model.load(server.url("/"))
        #expect(model.user == nil && model.message != nil)
    }

    @Test func `a view that disappears cancels the request`() async throws {
        let arrived = Deferred<Void>()
        let server = try LoopbackServer { _ in
            arrived.fill()
            return [.stall]
        }
        let model = Profile.ProfileModel(client: client)
        let view = Task { await model.load(server.url("/")) }
        await arrived.value
        view.cancel()
        _ = await view.result
        #expect(model.user == nil && model.message == nil)
    }
}
