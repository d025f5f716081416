import Foundation

// The client of the lab: see Tests/Field/run. It obeys orders on standard input until that ends.
let agent = Agent()
while let line = readLine() {
    agent.obey(try JSONDecoder().decode(Order.self, from: Data(line.utf8)))
}
