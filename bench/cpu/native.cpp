// The works of the suite `cpu` as somebody who tunes for this machine writes them, at vectors of 128 bits.
// Built by g++ -O3 -msse4.1 -fopenmp at the bench's start (bench/native.ts). Every work is
//
//   void name(const void* input, void* output, int64_t count, int threads)
//
// w1 to w5, n, m and c are tuned by hand; the others are the plain loops that a compiler makes vectors of, and so are
// n_plain, m_plain and c_plain.

#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

/// With FULL_WIDTH, built by g++ -O3 -march=native, vectors have the machine's width.
#if defined(FULL_WIDTH) && defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(FULL_WIDTH) && defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * lanes)));
typedef float LooseFloats __attribute__((vector_size(4 * lanes), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(4 * lanes)));
typedef uint32_t Words __attribute__((vector_size(4 * lanes)));
typedef long long Longs __attribute__((vector_size(4 * lanes)));

/// Whether any bit is set.
static bool any(Ints a) {
#if !defined(FULL_WIDTH)
  typedef char Bytes __attribute__((vector_size(16)));
  return __builtin_ia32_pmovmskb128((Bytes)a) != 0;
#endif
  const Longs b = (Longs)a;
  long long all = 0;
#pragma GCC unroll 8
  for (int i = 0; i < lanes / 2; ++i) all |= b[i];
  return all != 0;
}
#define WORK extern "C" __attribute__((visibility("default"))) void

/// Runs `body(begin, end)` on each thread, for its part of `count` in multiples of `grain`.
template <typename Body>
static void split(int64_t count, int64_t grain, int threads, Body body) {
#pragma omp parallel num_threads(threads)
  {
    const int64_t grains = count / grain, rank = omp_get_thread_num(), all = omp_get_num_threads();
    body(grains * rank / all * grain, rank + 1 == all ? count : grains * (rank + 1) / all * grain);
  }
}

/// Memory in huge pages, where the system has them.
extern "C" __attribute__((visibility("default"))) void* take(int64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

extern "C" __attribute__((visibility("default"))) void give(void* memory, int64_t bytes) { munmap(memory, bytes); }

WORK w1(const int32_t* __restrict in, int32_t* __restrict out, int64_t count, int threads) {
  split(count, 256, threads, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = in[i] * 3 + 1;
  });
}

/// 64 dependent multiplications and additions; eight vectors hide how long each takes.
WORK w2(const float* __restrict in, float* __restrict out, int64_t count, int threads) {
  constexpr int jam = 8;
  split(count, jam * lanes, threads, [=](int64_t begin, int64_t end) {
    const Floats p = 0.999f - Floats{}, q = 0.001f - Floats{};
    for (int64_t i = begin; i < end; i += jam * lanes) {
      Floats x[jam];
      for (int j = 0; j < jam; ++j) x[j] = *(const Floats*)(in + i + j * lanes);
#pragma GCC unroll 1
      for (int step = 0; step < 64; step += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
#pragma GCC unroll 8
          for (int j = 0; j < jam; ++j) x[j] = x[j] * p + q;
        }
      }
      for (int j = 0; j < jam; ++j) *(Floats*)(out + i + j * lanes) = x[j];
    }
  });
}

/// The sums of 17 neighbours; `in` has eight more at either end.
WORK w3(const float* __restrict in, float* __restrict out, int64_t count, int threads) {
  split(count, 256, threads, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += lanes) {
      Floats sum = {};
#pragma GCC unroll 17
      for (int k = 0; k <= 16; ++k) sum += *(const LooseFloats*)(in + i + k);
      *(Floats*)(out + i) = sum;
    }
  });
}

/// The product of two matrices of `n` rows, which follow each other in `in`: two rows by four vectors at a
/// time, over a panel of the second matrix that the caches hold.
WORK w4(const float* __restrict in, float* __restrict c, int64_t n, int threads) {
  constexpr int rows = 2, vectors = 4, width = vectors * lanes, depth = 256;
  const float *a = in, *b = in + n * n;
  split(n, 32, threads, [=](int64_t begin, int64_t end) {
    alignas(64) float panel[depth * width];
    std::memset(c + begin * n, 0, (end - begin) * n * sizeof(float));
    for (int64_t k0 = 0; k0 < n; k0 += depth) {
      for (int64_t column = 0; column < n; column += width) {
        for (int k = 0; k < depth; ++k) std::memcpy(panel + k * width, b + (k0 + k) * n + column, sizeof(float) * width);
        for (int64_t row = begin; row < end; row += rows) {
          Floats sums[rows][vectors];
#pragma GCC unroll 2
          for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sums[r][v] = *(Floats*)(c + (row + r) * n + column + v * lanes);
          }
          for (int k = 0; k < depth; ++k) {
#pragma GCC unroll 2
            for (int r = 0; r < rows; ++r) {
              const Floats left = a[(row + r) * n + k0 + k] - Floats{};
#pragma GCC unroll 4
              for (int v = 0; v < vectors; ++v) sums[r][v] += left * *(const Floats*)(panel + k * width + v * lanes);
            }
          }
#pragma GCC unroll 2
          for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) *(Floats*)(c + (row + r) * n + column + v * lanes) = sums[r][v];
          }
        }
      }
    }
  });
}

/// How many steps Collatz' sequence takes to 1, 1000 at most: four vectors under way at a time.
WORK w5(const uint32_t* __restrict in, int32_t* __restrict out, int64_t count, int threads) {
  constexpr int jam = 4;
  split(count, jam * lanes, threads, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += jam * lanes) {
      Ints x[jam], steps[jam] = {};
      for (int j = 0; j < jam; ++j) x[j] = *(const Ints*)(in + i + j * lanes);
      for (int step = 0; step < 1000; ++step) {
        Ints active = {};
#pragma GCC unroll 4
        for (int j = 0; j < jam; ++j) {
          const Ints goesOn = (x[j] != 1) & (x[j] != 0);
          const Ints next = (x[j] & 1) == 1 ? x[j] * 3 + 1 : (Ints)((Words)x[j] >> 1);
          x[j] = goesOn ? next : x[j];
          steps[j] -= goesOn;
          active |= goesOn;
        }
        if (!any(active)) break;
      }
      for (int j = 0; j < jam; ++j) *(Ints*)(out + i + j * lanes) = steps[j];
    }
  });
}

/// 256 sums.
WORK r(const float* __restrict in, float* __restrict out, int64_t count, int threads) {
  const int64_t part = count / 256;
  split(256, 1, threads, [=](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      float sums[16] = {}, sum = 0;
      for (int64_t i = block * part; i < (block + 1) * part; i += 16)
        for (int k = 0; k < 16; ++k) sums[k] += in[i + k];
      for (float partial : sums) sum += partial;
      out[block] = sum;
    }
  });
}

/// How often each of 256 bytes occurs.
WORK h(const uint8_t* __restrict in, uint32_t* __restrict out, int64_t count, int threads) {
  std::memset(out, 0, 256 * sizeof(uint32_t));
  split(count, 4, threads, [=](int64_t begin, int64_t end) {
    uint32_t own[4][256] = {};
    for (int64_t i = begin; i < end; i += 4)
      for (int k = 0; k < 4; ++k) ++own[k][in[i + k]];
#pragma omp critical
    for (int bin = 0; bin < 256; ++bin) out[bin] += own[0][bin] + own[1][bin] + own[2][bin] + own[3][bin];
  });
}

/// The transpose of `n` rows, in tiles that the caches hold.
WORK t(const float* __restrict in, float* __restrict out, int64_t n, int threads) {
  split(n, 32, threads, [=](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; y += 32)
      for (int64_t x = 0; x < n; x += 32)
        for (int j = 0; j < 32; ++j)
          for (int i = 0; i < 32; ++i) out[(x + j) * n + y + i] = in[(y + i) * n + x + j];
  });
}

WORK d(const double* __restrict x, double* __restrict y, int64_t count, int threads) {
  split(count, 8, threads, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = 1.5 * x[i] + y[i];
  });
}

/// When each point leaves: four vectors under way at a time.
WORK m(const int32_t*, int32_t* __restrict out, int64_t rows, int threads) {
  constexpr int jam = 4;
  const int64_t columns = rows * 16 / 9;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
  for (int64_t y = 0; y < rows; ++y) {
    const Floats imaginary = -1.2f + y * 2.4f / rows - Floats{};
    for (int64_t x = 0; x < columns; x += jam * lanes) {
      Floats real[jam], a[jam] = {}, b[jam] = {};
      Ints steps[jam] = {};
      for (int j = 0; j < jam; ++j)
        for (int k = 0; k < lanes; ++k) real[j][k] = -2.2f + (x + j * lanes + k) * 3.0f / columns;
      for (int step = 0; step < 256; ++step) {
        Ints active = {};
#pragma GCC unroll 4
        for (int j = 0; j < jam; ++j) {
          const Floats aa = a[j] * a[j], bb = b[j] * b[j];
          const Ints goesOn = aa + bb < 4;
          b[j] = 2 * a[j] * b[j] + imaginary;
          a[j] = aa - bb + real[j];
          steps[j] -= goesOn;
          active |= goesOn;
        }
        if (!any(active)) break;
      }
      for (int j = 0; j < jam; ++j) std::memcpy(out + y * columns + x + j * lanes, &steps[j], sizeof(Ints));
    }
  }
}

/// Parts of 512 elements, each sorted.
WORK b(const int32_t* __restrict in, int32_t* __restrict out, int64_t count, int threads) {
  split(count / 512, 1, threads, [=](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      int32_t* keys = out + part * 512;
      std::memcpy(keys, in + part * 512, 512 * sizeof(int32_t));
      for (int size = 2; size <= 512; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
          for (int first = 0; first < 512; first += 2 * stride) {
            const bool up = (first & size) == 0;
            for (int i = first; i < first + stride; ++i) {
              const int32_t low = std::min(keys[i], keys[i + stride]), high = std::max(keys[i], keys[i + stride]);
              keys[i] = up ? low : high;
              keys[i + stride] = up ? high : low;
            }
          }
        }
      }
    }
  });
}

/// Elements of 16 bits, a vector of them, from bytes; the upper half of their product; and back to bytes.
#if defined(FULL_WIDTH) && defined(__AVX512BW__)
typedef __m512i Halves;
static Halves widened(const uint8_t* at) { return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i*)at)); }
static Halves added(Halves a, Halves b) { return _mm512_add_epi16(a, b); }
static Halves upper(Halves a, short b) { return _mm512_mulhi_epu16(a, _mm512_set1_epi16(b)); }
static void narrowed(uint8_t* at, Halves a) { _mm256_storeu_si256((__m256i*)at, _mm512_cvtepi16_epi8(a)); }
#else
typedef __m128i Halves;
static Halves widened(const uint8_t* at) { return _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i*)at)); }
static Halves added(Halves a, Halves b) { return _mm_add_epi16(a, b); }
static Halves upper(Halves a, short b) { return _mm_mulhi_epu16(a, _mm_set1_epi16(b)); }
static void narrowed(uint8_t* at, Halves a) { _mm_storel_epi64((__m128i*)at, _mm_packus_epi16(a, a)); }
#endif

/// The mean of 3 by 3 neighbours of an image of 3 channels; `in` has a border of one more pixel. Sums have 16 bits.
WORK c(const uint8_t* __restrict in, uint8_t* __restrict out, int64_t n, int threads) {
  const int64_t pitch = 3 * (n + 2);
  constexpr int64_t step = sizeof(Halves) / 2;
  split(n, 1, threads, [=](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      for (int64_t i = 0; i < 3 * n; i += step) {
        Halves sum = {};
#pragma GCC unroll 3
        for (int row = 0; row < 3; ++row)
#pragma GCC unroll 3
          for (int pixel = 0; pixel < 3; ++pixel) sum = added(sum, widened(in + (y + row) * pitch + i + 3 * pixel));
        narrowed(out + y * 3 * n + i, upper(sum, 7282));
      }
    }
  });
}

static Floats root(Floats a) {
#if defined(FULL_WIDTH) && defined(__AVX512F__)
  return _mm512_sqrt_ps(a);
#elif defined(FULL_WIDTH) && defined(__AVX2__)
  return _mm256_sqrt_ps(a);
#else
  return _mm_sqrt_ps(a);
#endif
}

/// The forces between `n` bodies (x, y, z, mass): two vectors of bodies at a time, from all others one by one.
WORK n(const float* __restrict in, float* __restrict out, int64_t count, int threads) {
  constexpr int jam = 2;
  std::vector<float> columns[3];
  for (int column = 0; column < 3; ++column) {
    columns[column].resize(count);
    for (int64_t i = 0; i < count; ++i) columns[column][i] = in[4 * i + column];
  }
  split(count, jam * lanes, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += jam * lanes) {
      Floats x[jam], y[jam], z[jam], ax[jam] = {}, ay[jam] = {}, az[jam] = {};
      for (int j = 0; j < jam; ++j) {
        x[j] = *(const LooseFloats*)(columns[0].data() + i + j * lanes);
        y[j] = *(const LooseFloats*)(columns[1].data() + i + j * lanes);
        z[j] = *(const LooseFloats*)(columns[2].data() + i + j * lanes);
      }
      for (int64_t other = 0; other < count; ++other) {
        const float* body = in + 4 * other;
#pragma GCC unroll 2
        for (int j = 0; j < jam; ++j) {
          const Floats dx = body[0] - x[j], dy = body[1] - y[j], dz = body[2] - z[j];
          const Floats inverse = 1 / root(dx * dx + dy * dy + dz * dz + 0.01f);
          const Floats force = body[3] * inverse * inverse * inverse;
          ax[j] += force * dx;
          ay[j] += force * dy;
          az[j] += force * dz;
        }
      }
      for (int j = 0; j < jam; ++j) {
        for (int k = 0; k < lanes; ++k) {
          out[3 * (i + j * lanes + k)] = ax[j][k];
          out[3 * (i + j * lanes + k) + 1] = ay[j][k];
          out[3 * (i + j * lanes + k) + 2] = az[j][k];
        }
      }
    }
  });
}

/// When each point leaves, one point after the other.
WORK m_plain(const int32_t*, int32_t* __restrict out, int64_t rows, int threads) {
  const int64_t columns = rows * 16 / 9;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      const float real = -2.2f + x * 3.0f / columns, imaginary = -1.2f + y * 2.4f / rows;
      float a = 0, b = 0;
      int step = 0;
      while (a * a + b * b < 4 && step < 256) {
        const float next = a * a - b * b + real;
        b = 2 * a * b + imaginary;
        a = next;
        ++step;
      }
      out[y * columns + x] = step;
    }
  }
}

/// The mean of neighbours, byte by byte.
WORK c_plain(const uint8_t* __restrict in, uint8_t* __restrict out, int64_t n, int threads) {
  const int64_t pitch = 3 * (n + 2);
  split(n, 1, threads, [=](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      for (int64_t i = 0; i < 3 * n; ++i) {
        int sum = 0;
        for (int row = 0; row < 3; ++row)
          for (int pixel = 0; pixel < 3; ++pixel) sum += in[(y + row) * pitch + i + 3 * pixel];
        out[y * 3 * n + i] = sum / 9;
      }
    }
  });
}

/// Sixteen bodies at a time, so that the compiler makes vectors of them.
WORK n_plain(const float* __restrict in, float* __restrict out, int64_t count, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t first = 0; first < count; first += 16) {
    float ax[16] = {}, ay[16] = {}, az[16] = {}, x[16], y[16], z[16];
    for (int k = 0; k < 16; ++k) {
      const float* body = in + 4 * (first + k);
      x[k] = body[0], y[k] = body[1], z[k] = body[2];
    }
    for (int64_t other = 0; other < count; ++other) {
      const float* body = in + 4 * other;
      for (int k = 0; k < 16; ++k) {
        const float dx = body[0] - x[k], dy = body[1] - y[k], dz = body[2] - z[k];
        const float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        const float force = body[3] * inverse * inverse * inverse;
        ax[k] += force * dx;
        ay[k] += force * dy;
        az[k] += force * dz;
      }
    }
    for (int k = 0; k < 16; ++k) {
      out[3 * (first + k)] = ax[k];
      out[3 * (first + k) + 1] = ay[k];
      out[3 * (first + k) + 2] = az[k];
    }
  }
}
