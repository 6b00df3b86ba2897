#include "server/http/connection_reply.h"

#include <gtest/gtest.h>

namespace quire::server {
namespace {

TEST(ConnectionReply, WholeAnswers) {
  int woken = 0;
  ConnectionReply reply({.request_id = "r1"}, [&] { ++woken; });
  reply.send({.status = 404, .headers = {{"Retry-After", "3"}}, .body = "{}"});
  const ConnectionReply::Batch batch = reply.take();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(batch.phase, ConnectionReply::Phase::kFinished);
  EXPECT_TRUE(batch.bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  for (const char* line :
       {"X-Request-Id: r1\r\n", "Retry-After: 3\r\n", "Content-Length: 2\r\n", "Connection: keep-alive\r\n"})
    EXPECT_NE(batch.bytes.find(line), std::string::npos) << line;
  EXPECT_TRUE(batch.bytes.ends_with("\r\n\r\n{}"));
  EXPECT_EQ(reply.record().status, 404);
}

TEST(ConnectionReply, HeadHasTheLengthButNoBody) {
  ConnectionReply reply({.with_body = false}, [] {});
  reply.send({.body = "12345"});
  const std::string bytes = reply.take().bytes;
  EXPECT_NE(bytes.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\n"));
}

TEST(ConnectionReply, ChunkedStreams) {
  ConnectionReply reply({}, [] {});
  reply.begin({.content_type = "text/event-stream"});
  reply.take();
  reply.write("data: 1\n\n");
  EXPECT_EQ(reply.take().bytes, "9\r\ndata: 1\n\n\r\n");
  reply.ping();
  EXPECT_EQ(reply.take().bytes, "3\r\n:\n\n\r\n");
  reply.finish();
  EXPECT_EQ(reply.take().bytes, "0\r\n\r\n");
  reply.ping();
  EXPECT_EQ(reply.take().bytes, "");
}

TEST(ConnectionReply, OldClientsGetNoChunks) {
  ConnectionReply reply({.connection = Connection::kClose, .chunked = false}, [] {});
  reply.begin({});
  EXPECT_EQ(reply.take().bytes.find("chunked"), std::string::npos);
  reply.write("x");
  reply.finish();
  EXPECT_EQ(reply.take().bytes, "x");
  EXPECT_TRUE(reply.closes());
}

TEST(ConnectionReply, TellsWhenASlowClientHasCaughtUpAndWhenItIsGone) {
  ConnectionReply reply({}, [] {});
  int changes = 0;
  reply.watch([&] { ++changes; });
  reply.begin({});
  EXPECT_TRUE(reply.has_room());
  reply.write(std::string(1 << 20, 'x'));
  EXPECT_FALSE(reply.has_room());
  reply.take();
  EXPECT_FALSE(reply.has_room());
  reply.sent();
  EXPECT_EQ(changes, 1);
  EXPECT_TRUE(reply.has_room());
  reply.take();
  reply.sent();
  EXPECT_EQ(changes, 1);  // nobody waited
  reply.write("x");
  reply.client_left();
  EXPECT_EQ(changes, 2);
  EXPECT_TRUE(reply.gone());
  reply.write("dropped");
  reply.finish();
  EXPECT_EQ(reply.take().bytes, "");
}

TEST(ConnectionReply, PreflightsNeedAnOrigin) {
  EXPECT_EQ(preflight_response("").status, 403);
  EXPECT_EQ(preflight_response("*").status, 204);
}

}  // namespace
}  // namespace quire::server
