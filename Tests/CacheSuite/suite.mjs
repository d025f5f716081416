// Runs the tests of github http-tests/cache-tests, with their own judgement, through a program that has our cache.
//
// Arguments: the folder of the repository, the base URL of its server, `as-is` or `mended`, the program and its arguments.
//
// The cache is private, and has one user: the tests that the suite runs in browsers are run. Others that apply to such a
// cache, and which browsers are spared because of `fetch` alone (the client's own conditions, redirects that it sees), are
// counted apart. Not run: tests of CDNs, of shared caches, and of interim responses.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [folder, base, variant, program, ...programArguments] = process.argv.slice(2)
const load = path => import(`${folder}/${path}`)
const { runTests, getResults } = await load('test-engine/client/runner.mjs')
const { determineTestResult, resultTypes } = await load('test-engine/lib/results.mjs')
const suites = (await load('tests/index.mjs')).default

const beyondBrowsers = new Set()
for (const suite of suites) {
  for (const test of suite.tests) {
    const isShared = /shared/i.test(test.name) || /s-maxage|proxy-revalidate/.test(test.id)
    if (!test.browser_skip || isShared || suite.id === 'interim') continue
    beyondBrowsers.add(test.id)
    delete test.browser_skip
  }
}

// Five responses of the suite contradict themselves. Four announce six bytes, 4-9 of 10, and have five; the fifth has
// other bytes than those that were asked for, and no validator, without which no rest may be joined to it.
if (variant === 'mended') {
  for (const test of suites.find(suite => suite.id === 'partial').tests) {
    const request = test.requests[0]
    const range = request.response_headers.find(field => field[0] === 'Content-Range')
    if (range?.[1] === 'bytes 4-9/10') range[1] = 'bytes 4-8/9'
    if (range?.[1] === 'bytes 0-4/10') {
      request.request_headers[0][1] = 'bytes=0-4'
      request.response_headers.push(['ETag', '"a"'])
    }
  }
}

const bridge = spawn(program, programArguments, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let lastId = 0
createInterface({ input: bridge.stdout }).on('line', line => {
  const answer = JSON.parse(line)
  waiting.get(answer.id)(answer)
  waiting.delete(answer.id)
})

const realFetch = globalThis.fetch
globalThis.fetch = async (url, init = {}) => {
  if (!url.startsWith(`${base}/test/`)) return realFetch(url, init)
  const id = ++lastId
  const answer = await new Promise(resolve => {
    waiting.set(id, resolve)
    const { method = 'GET', headers: fields = [], body, cache: policy, redirect } = init
    bridge.stdin.write(JSON.stringify({ id, method, url, fields, body, policy, redirect }) + '\n')
  })
  // As from a proxy; a client has an error.
  if (answer.error !== undefined) return response(504, [], answer.error)
  return response(answer.status, answer.fields, answer.body)
}

function response (status, fields, body) {
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  return { status, statusText: '', headers, text: async () => body }
}

await runTests(suites, true, base, 1000)
bridge.stdin.end()

const results = getResults()
const counts = {}
for (const suite of suites) {
  for (const test of suite.tests) {
    if (!(test.id in results)) continue
    const kind = test.kind ?? 'required'
    const result = determineTestResult(suites, test.id, results)
    const passes = result === resultTypes.pass || result === resultTypes.yes
    const count = (counts[`${kind}, ${beyondBrowsers.has(test.id) ? 'beyond browsers' : 'browsers'}`] ??= [0, 0])
    count[0] += passes ? 1 : 0
    count[1] += 1
    if (passes || kind === 'check') continue
    console.log(`${kind} ${test.id}: ${results[test.id] === true ? `needs ${test.depends_on}` : results[test.id].join(': ')}`)
  }
}
for (const [name, [passed, all]] of Object.entries(counts).sort()) console.log(`${name}: ${passed} of ${all}`)
process.exit(0)
