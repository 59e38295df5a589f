// What cannot be unpacked for lack of memory is told apart from what is damaged or too large.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "graph/base/file_bytes.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

// While it lives, this process gets no more than so much further address space.
class LittleMemory {
 public:
  explicit LittleMemory(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{AddressSpace() + bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  static rlim_t AddressSpace() {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  }

  rlimit before_{};
};

TEST(Decompress, AnOutputWithoutMemoryIsNotOneAboveTheLimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take address space of their own";
#endif
  const std::string zeros(size_t{64} << 20, '\0');
  for (const auto& packed : {PackXz(zeros), PackGzip(zeros)}) {
    ASSERT_TRUE(packed.ok()) << packed.status();
    absl::Status status;
    {
      const LittleMemory little(size_t{24} << 20);
      status = Unpack(BytesOf(*packed), "f", SIZE_MAX).status();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.message(), HasSubstr("f: there is no memory to unpack"));
    EXPECT_THAT(Unpack(BytesOf(*packed), "f", 1 << 20).status().message(),
                HasSubstr("unpacks to more than 1048576 bytes, the limit"));
  }
}

// "tenon", in a file that asks for a dictionary of 4 GiB.
TEST(Decompress, ADecoderAboveItsLimitIsNotACorruptFile) {
  constexpr std::string_view kFile(
      "\xfd"
      "7zXZ\0\0\0\xff\x12\xd9\x41\x02\x00\x21\x01\x28\x00\x00\x00\xe6\xa0\x11\xb3\x01\x00\x04"
      "tenon\0\0\0\0\0\x01\x15\x05\xb0\xa7\x59\x67\x06\x72\x9e\x7a\x01\0\0\0\0\0YZ",
      56);
  const absl::Status status = Unpack(BytesOf(std::string(kFile)), "f", SIZE_MAX).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(status.message(), HasSubstr("takes a decoder of 42"));
  EXPECT_THAT(status.message(), HasSubstr("bytes, the limit is 536870912"));
}

}  // namespace
}  // namespace tenon
