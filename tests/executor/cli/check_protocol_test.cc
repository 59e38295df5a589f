// Messages of workers: whole ones, and bytes that are none.
#include "executor/cli/check/check_protocol.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace tenon::cli {
namespace {

using ::testing::ElementsAre;

std::string Size(uint32_t size) { return {reinterpret_cast<const char*>(&size), sizeof(size)}; }

std::string Field(const std::string& text) {
  return Size(static_cast<uint32_t>(text.size())) + text;
}

// A message as bytes, with any fields.
std::string BytesOf(const std::vector<std::string>& fields) {
  std::string bytes;
  for (const std::string& field : fields) bytes += Field(field);
  return Field(bytes);
}

absl::StatusOr<std::optional<Message>> Read(const std::string& bytes) {
  MessageReader reader;
  reader.Append(bytes.data(), bytes.size());
  return reader.Next();
}

TEST(MessageReader, ReadsWhatIsSent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Message sent = {std::string(kCaseEnded), "2", "0", "c000", "p", std::string("a\0b", 3)};
  ASSERT_TRUE(SendMessage(ends[1], sent));
  ASSERT_TRUE(SendMessage(ends[1], {std::string(kFileEnded), "2"}));
  char bytes[4096];
  const ssize_t size = read(ends[0], bytes, sizeof(bytes));
  ASSERT_GT(size, 0);
  MessageReader reader;
  // Byte by byte: a message may come in any parts.
  for (ssize_t i = 0; i < size - 1; ++i) {
    reader.Append(bytes + i, 1);
    const auto message = reader.Next();
    ASSERT_TRUE(message.ok()) << message.status();
    if (message->has_value()) EXPECT_EQ(**message, sent);
  }
  EXPECT_TRUE(reader.HasRest());
  reader.Append(bytes + size - 1, 1);
  EXPECT_THAT(**reader.Next(), ElementsAre(kFileEnded, "2"));
  EXPECT_FALSE(reader.HasRest());
  EXPECT_FALSE(reader.Next()->has_value());
  close(ends[0]);
  close(ends[1]);
}

TEST(MessageReader, RefusesWhatNoWorkerSends) {
  for (const std::string& bytes : {
           std::string("hello, world"),
           Size(UINT32_MAX),                       // of a message
           Field(Size(UINT32_MAX)),                // of a field
           Field(Field("file") + Size(2) + "1"),   // beyond the message
           Field(Field("done") + "12"),            // half a size
           Field(""),                              // no kind
           BytesOf({"unheard"}),                   // an unknown kind
           BytesOf({"done"}),                      // too few fields
           BytesOf({"done", "1", "1"}),            // too many
           BytesOf({"begin", "1", "x", "c000"}),   // no number
           BytesOf({"begin", "1", "", "c000"}),    //
           BytesOf({"begin", "-1", "0", "c000"}),  //
           BytesOf({"begin", "99999999999999999999", "0", "c000"}),
           BytesOf({"result", "1", "0", "c000", "", ""}),  // no status
           BytesOf({"result", "1", "0", "c000", "pp", ""}),
           BytesOf({"result", "1", "0", "c000", "c", ""}),  // the parent's alone
           BytesOf({"kernels", "a.so"}),                    // half a pair
           BytesOf({"passes"}),
           BytesOf({"plugins", "a.so", "many"}),
           BytesOf({"violation", "leak"}),
           BytesOf({"nohost", "1", "two", "no"}),
       }) {
    EXPECT_EQ(Read(bytes).status().code(), absl::StatusCode::kDataLoss)
        << ::testing::PrintToString(bytes);
  }
}

TEST(MessageReader, StaysBroken) {
  const std::string bytes = BytesOf({"unheard"}) + BytesOf({"done", "1"});
  MessageReader reader;
  reader.Append(bytes.data(), bytes.size());
  EXPECT_FALSE(reader.Next().ok());
  EXPECT_FALSE(reader.Next().ok());
  EXPECT_TRUE(reader.HasRest());
}

TEST(SendMessage, SendsNothingOfWhatIsTooLong) {
  const Message message = {std::string(kPassesRan), std::string(kMaxMessageBytes, 'x')};
  EXPECT_FALSE(SendMessage(-1, message));
  EXPECT_EQ(errno, EMSGSIZE);
}

}  // namespace
}  // namespace tenon::cli
