// An OpenID provider with two clients, and a gateway before a sandbox that lets through what carries a
// live token of the provider with the scope that its path asks for. Both listen on loopback.
//   node provider.js SANDBOX_JSON SECRET LIFETIME_SECONDS
import { readFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { Provider } from "oidc-provider"

const [file, secret, lifetime] = process.argv.slice(2)
const sandbox = JSON.parse(readFileSync(file))
const scopes = { POST: "transfer:write_internal_transfer", GET: "transfer:read_transfer" }

const client = (method) => ({
  client_id: method, client_secret: secret, token_endpoint_auth_method: `client_secret_${method}`,
  grant_types: ["client_credentials"], response_types: [], redirect_uris: [], scope: Object.values(scopes).join(" "),
})
const listen = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)))

const tokens = createServer()
const issuer = await listen(tokens)
const provider = new Provider(issuer, {
  clients: [client("basic"), client("post")],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  scopes: Object.values(scopes),
  ttl: { ClientCredentials: Number(lifetime) },
})
tokens.on("request", provider.callback())
provider.on("grant.error", (_, err) => console.error(`no token: ${err.error}`))

const own = await (await fetch(sandbox.token_url, {
  method: "POST",
  body: new URLSearchParams({ grant_type: "client_credentials", client_id: sandbox.client_id, client_secret: sandbox.client_secret }),
})).json()
const refuse = (answer, status, title) => {
  answer.writeHead(status, { "Content-Type": "application/problem+json" })
  answer.end(JSON.stringify({ type: "about:blank", title, status }))
}
const gateway = createServer(async (asked, answer) => {
  const token = await provider.ClientCredentials.find((asked.headers.authorization ?? "").replace(/^Bearer /, ""))
  if (!token || token.isExpired) return refuse(answer, 401, "The token is not live")
  if (!(token.scope ?? "").split(" ").includes(scopes[asked.method])) return refuse(answer, 403, "The token lacks the scope")
  const through = request(sandbox.base_url + asked.url, {
    method: asked.method, headers: { ...asked.headers, authorization: `Bearer ${own.access_token}` },
  }, (got) => {
    answer.writeHead(got.statusCode, got.headers)
    got.pipe(answer)
  })
  asked.pipe(through)
})
console.log(JSON.stringify({ token_url: issuer + "/token", base_url: await listen(gateway) }))
