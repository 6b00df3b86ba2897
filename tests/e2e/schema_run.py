"""schemathesis against `quire serve`: requests made from /openapi.json, and from what it forbids, on a tiny model. No answer
may be a failure of the server, and every one must have the status, the type and the members that the description says.

usage: schema_run.py QUIRE TEST_DATA [EXAMPLES]

Needs the package schemathesis, in this Python or one that a virtual environment can install; says so and exits 0 when there
is neither. EXAMPLES: requests for each route (default 50). Not part of the fast tests."""

import os
import subprocess
import sys

from client_package import check, run_with

run_with("schemathesis")

from server_case import Server

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main():
    examples = sys.argv[3] if len(sys.argv) > 3 else "50"
    program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
    with Server("--parallel", "8", "--ctx", "256") as server:
        result = subprocess.run(
            [program, "run", "http://127.0.0.1:%d/openapi.json" % server.port, "--checks", CHECKS, "--max-examples", examples,
             "--exclude-path-regex", "rerank|infill",  # 501: what this model cannot do
             "--continue-on-failure", "--suppress-health-check", "all", "--seed", "1", "--request-timeout", "60"],
            cwd=server.folder.name)
        check(result.returncode == 0, "every answer is as described")
        check(server.process.poll() is None and server.get("/health")[0] == 200, "the server is well")
        check(server.stop() == 0, "shutdown")


main()
