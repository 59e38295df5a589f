// EncodeJpeg, on libjpeg-turbo.
#include <csetjmp>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/cpu/image/files/jpeg_errors.h"

namespace tenon::cpu {
namespace {

constexpr std::string_view kXmpHeader{"http://ns.adobe.com/xap/1.0/\0", 29};

// What libjpeg's callbacks see; it leaves its functions by longjmp when something is wrong.
struct Writer {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg_destination_mgr destination = {};
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = {};
  JOCTET buffer[1 << 14];
  std::string file;
  bool out_of_memory = false;

  ~Writer() { jpeg_destroy_compress(&jpeg); }
};

[[noreturn]] void OnEncodeError(j_common_ptr jpeg) {
  auto& w = *static_cast<Writer*>(jpeg->client_data);
  JpegMessage(w.errors, w.message);
  longjmp(w.jump, 1);
}

void ClearBuffer(j_compress_ptr jpeg) {
  auto& w = *static_cast<Writer*>(jpeg->client_data);
  jpeg->dest->next_output_byte = w.buffer;
  jpeg->dest->free_in_buffer = sizeof(w.buffer);
}

// libjpeg calls this. Its frames are those of C, which no exception may cross.
void Append(j_compress_ptr jpeg, size_t bytes) {
  auto& w = *static_cast<Writer*>(jpeg->client_data);
  try {
    w.file.append(reinterpret_cast<const char*>(w.buffer), bytes);
    return;
  } catch (const std::bad_alloc&) {
    w.out_of_memory = true;
  }
  longjmp(w.jump, 1);
}

boolean EmptyBuffer(j_compress_ptr jpeg) {
  Append(jpeg, sizeof(Writer::buffer));
  ClearBuffer(jpeg);
  return TRUE;
}

void EndFile(j_compress_ptr jpeg) {
  Append(jpeg, sizeof(Writer::buffer) - jpeg->dest->free_in_buffer);
}

// Without a local that has a destructor: errors leave it by longjmp.
bool Write(Writer& w, const uint8_t* pixels, JDIMENSION height, JDIMENSION width, int channels,
           const JpegEncoding& options, std::string_view marker) {
  jpeg_compress_struct& jpeg = w.jpeg;
  SetUpJpegErrors(&w.errors, &OnEncodeError);
  jpeg.err = &w.errors;
  jpeg.client_data = &w;
  if (setjmp(w.jump) != 0) return false;
  jpeg_create_compress(&jpeg);  // clears all but err and client_data
  w.destination.init_destination = &ClearBuffer;
  w.destination.empty_output_buffer = &EmptyBuffer;
  w.destination.term_destination = &EndFile;
  jpeg.dest = &w.destination;
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = channels;
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg.optimize_coding = options.optimize_size ? TRUE : FALSE;
  jpeg.density_unit = options.per_centimetre ? 2 : 1;
  jpeg.X_density = options.x_density;
  jpeg.Y_density = options.y_density;
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&jpeg);
  if (!options.chroma_downsampling) {
    for (int c = 0; c < jpeg.num_components; ++c)
      jpeg.comp_info[c].h_samp_factor = jpeg.comp_info[c].v_samp_factor = 1;
  }
  jpeg_start_compress(&jpeg, TRUE);
  if (!marker.empty()) {
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(marker.data()),
                      static_cast<unsigned>(marker.size()));
  }
  while (jpeg.next_scanline < height) {
    JSAMPROW line = const_cast<JSAMPROW>(pixels) + size_t{jpeg.next_scanline} * width * channels;
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

}  // namespace

absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const Shape& shape,
                                       const JpegEncoding& options) {
  const int64_t height = shape.dim(0), width = shape.dim(1);
  if (height < 1 || width < 1 || height > JPEG_MAX_DIMENSION || width > JPEG_MAX_DIMENSION) {
    return absl::InternalError(absl::StrCat("a JPEG file has 1 to ", JPEG_MAX_DIMENSION,
                                            " rows and columns, not ", height, " and ", width));
  }
  const std::string marker =
      options.xmp_metadata.empty() ? "" : absl::StrCat(kXmpHeader, options.xmp_metadata);
  Writer w;
  if (!Write(w, pixels, static_cast<JDIMENSION>(height), static_cast<JDIMENSION>(width),
             static_cast<int>(shape.dim(2)), options, marker)) {
    if (w.out_of_memory) return absl::ResourceExhaustedError("no memory for a JPEG file");
    return absl::InternalError(absl::StrCat("JPEG: ", w.message));
  }
  return std::move(w.file);
}

}  // namespace tenon::cpu
