// The name of a kernel's entry: what profilers and debuggers show, so that of the kernel where C++ lets it.
//
// A JavaScript function may be called `double` or `exp`. The first is a word of C++'s own, the second a
// function that every CUDA program has already; a second one with C's linkage is an error.

const keywords =
  'alignas alignof and asm auto bool break case catch char class concept const constexpr continue decltype ' +
  'default delete do double else enum explicit export extern false final float for friend goto if inline int ' +
  'long main mutable namespace new noexcept not nullptr operator or override private protected public register ' +
  'requires return short signed sizeof static struct switch template this throw true try typedef typeid ' +
  'typename union unsigned using virtual void volatile wchar_t while xor';

/** Functions of the device that need no header, without the suffix f of their f32 forms. */
const functions =
  'abs acos acosh asin asinh assert atan atan2 atanh cbrt ceil clock copysign cos cosh cospi erf erfc erfcinv erfcx ' +
  'erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma fmax fmin fmod free frexp hypot ilogb isfinite isinf ' +
  'isnan j0 j1 jn labs ldexp lgamma llabs llmax llmin llrint llround log log10 log1p log2 logb lrint lround malloc ' +
  'max memcpy memset min modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow powi printf rcbrt ' +
  'remainder remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt saturate scalbln scalbn signbit sin sincos ' +
  'sincospi sinh sinpi sqrt tan tanh tgamma trap trunc ullmax ullmin umax umin y0 y1 yn';

const taken = new Set([
  ...keywords.split(' '),
  ...functions.split(' ').flatMap((name) => [name, `${name}f`]),
]);

export function entryName(kernel: string): string {
  const name = kernel.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=[0-9])/, '_');
  return taken.has(name) ? `${name}_kernel` : name;
}
