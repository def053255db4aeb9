// Functions of floats that JavaScript's Math has not, in f64.
//
// The polynomials are Chebyshev fits, made for this with 60 digits; the greatest power comes first.

/** (erf(x) / x) by x^2, for |x| up to 1/2; off by 5e-18 at most. */
const nearZero = [
  1.4725865480556744e-6, -1.4845849259707869e-5, 0.00012053335124353741, -0.0008548297753674966,
  0.00522397737302147, -0.026866170632887928, 0.11283791670925353, -0.37612638903183476, 1.1283791670955126,
];

/** exp(x^2) erfc(x) (1 + 2x) by (x - 3.75) / (x + 3.75), for x from 1/2 to 28; off by 4e-21 at most. */
const tail = [
  -3.5903582198167414e-11, 6.732223034769188e-10, 5.431101602980913e-10, -6.278331417280211e-9,
  -4.393239441344337e-9, 4.087296039988454e-8, 2.4304944244224854e-8, -2.612324734276343e-7,
  -5.8282248933517915e-8, 1.7535704538206052e-6, -9.728355661119954e-7, -1.1445124744716514e-5,
  2.2383905689718778e-5, 5.164943414333009e-5, -0.00029015397743433873, 0.00029371358906324753,
  0.0017556258320756727, -0.009746579546846386, 0.0283622774215549, -0.05869339859060825, 0.09230432116019587,
  -0.10880393014170502, 0.0822767384901511, 0.0035854154854636517, -0.14024059858554702, 1.2375126308378275,
];

/** lgamma(x) / ((x - 1) (x - 2)) by 2x - 3, for x from 1 to 2; off by 3e-20 at most. */
const betweenZeros = [
  -4.009497966372805e-13, 1.2501115664892499e-12, -1.4980798127914213e-12, 4.7104952913992804e-12,
  -2.115980517431393e-11, 6.658783632912748e-11, -2.0053209362875985e-10, 6.347242958511528e-10,
  -2.0242977543119116e-9, 6.44852415578375e-9, -2.0616739835613578e-8, 6.622900445314835e-8,
  -2.1386487330773735e-7, 6.948461670338335e-7, -2.274247007665434e-6, 7.511391135508744e-6,
  -2.5094328729337463e-5, 8.510090382501114e-5, -0.0002945507015146143, 0.00104981866444897,
  -0.003913560937626377, 0.01572785026864124, -0.07297994795715304, 0.4831289505409809,
];

/** Of Stirling's series: the Bernoulli numbers B(2k) / (2k (2k - 1)), the last one first. */
const stirling = [
  43867 / 244188,
  -3617 / 122400,
  1 / 156,
  -691 / 360360,
  1 / 1188,
  -1 / 1680,
  1 / 1260,
  -1 / 360,
  1 / 12,
];

const polynomial = (coefficients: readonly number[], x: number) =>
  coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);

export function erf(x: number): number {
  if (Math.abs(x) <= 0.5) return x * polynomial(nearZero, x * x);
  return x < 0 ? erfc(-x) - 1 : 1 - erfc(x);
}

export function erfc(x: number): number {
  if (x < -0.5) return 2 - erfc(-x);
  if (x <= 0.5) return 1 - erf(x);
  if (x > 28) return 0;
  // The square of what has 24 bits is exact.
  const high = Math.fround(x);
  const power = Math.exp(-high * high) * Math.exp((high - x) * (high + x));
  return (power * polynomial(tail, (x - 3.75) / (x + 3.75))) / (1 + 2 * x);
}

/** Of the magnitude of the gamma function. */
export function lgamma(x: number): number {
  if (x === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
  if (x <= 0) {
    if (Number.isInteger(x)) return Number.POSITIVE_INFINITY;
    if (x > -1e-17) return -Math.log(-x);
    return Math.log(Math.PI / Math.abs(sinpi(x))) - lgamma(1 - x);
  }
  if (x === 1 || x === 2) return 0;
  if (x < 1) {
    // That of x + 1, which itself would be rounded.
    const above = x * (x - 1) * polynomial(betweenZeros, 2 * x - 1);
    return above - (x < 0.5 ? Math.log(x) : Math.log1p(x - 1));
  }
  if (x <= 2) return (x - 1) * (x - 2) * polynomial(betweenZeros, 2 * x - 3);
  if (x <= 3) return lgamma(x - 1) + Math.log1p(x - 2);
  if (x < 12) {
    let [rest, product] = [x, 1];
    while (rest > 3) {
      rest -= 1;
      product *= rest;
    }
    return Math.log(product) + lgamma(rest);
  }
  if (x > 1e16) return x * (Math.log(x) - 1);
  const series = polynomial(stirling, 1 / (x * x)) / x;
  return (x - 0.5) * Math.log(x) - x + (0.5 * Math.log(2 * Math.PI) + series);
}

/** The remainder is exact, and so is what folds it to a quarter of a turn. */
export function sinpi(x: number): number {
  const turned = x % 2;
  const half = Math.abs(turned) > 1 ? turned - Math.sign(turned) * 2 : turned;
  if (Math.abs(half) === 1) return x < 0 ? -0 : 0;
  const folded = Math.abs(half) > 0.5 ? Math.sign(half) - half : half;
  if (folded === 0) return turned;
  return Math.abs(folded) <= 0.25
    ? Math.sin(Math.PI * folded)
    : Math.sign(folded) * Math.cos(Math.PI * (0.5 - Math.abs(folded)));
}

export function cospi(x: number): number {
  const turned = Math.abs(x % 2);
  const half = turned > 1 ? 2 - turned : turned;
  if (half <= 0.25) return Math.cos(Math.PI * half);
  if (half === 0.5) return 0;
  return half < 0.75 ? Math.sin(Math.PI * (0.5 - half)) : -Math.cos(Math.PI * (1 - half));
}

/** To the nearest integer, a half to the even one. */
export function rint(x: number): number {
  const size = Math.abs(x);
  if (!(size < 2 ** 52)) return x;
  const whole = size + 2 ** 52 - 2 ** 52;
  return x < 0 || Object.is(x, -0) ? -whole : whole;
}

/** To the nearest integer, a half away from zero. */
export function roundAway(x: number): number {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) >= 0.5 ? whole + Math.sign(x) : whole;
}
