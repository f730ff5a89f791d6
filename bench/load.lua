-- Sends the requests of a file in turn, and prints what came back as one line of JSON.
-- The file, named by the first argument, has a request a line: method, path and body, split by tabs.

local requests = {}
local turn = 0

function init(args)
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^(%u+)\t([^\t]+)\t(.*)$")
    local headers = { Host = wrk.headers["Host"] }
    if body == "" then
      body = nil
    else
      headers["Content-Type"] = "application/json"
    end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"micros":%d,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\n',
    summary.requests, summary.duration,
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
