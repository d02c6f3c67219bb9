/* {{ title }}
{% for line in about %}
   {{ line }}
{% endfor %}

   Generalised forces of the independent coordinates y of the mechanism, from y, their speeds and
   accelerations. SI units: m, rad, s, kg, N, N m. Loops are closed by Newton's method from the
   last pose, so that calls have to follow a path; long steps are divided. No heap, no recursion, no
   global variables: calls with different states may run at the same time.

   Order of the coordinates and of their forces:
{% for line in coordinates %}
   {{ loop.index0 }}: {{ line }}
{% endfor %}
*/
#ifndef {{ NAME }}_H
#define {{ NAME }}_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    {{ NAME }}_N = {{ n }}, /* independent coordinates */
    {{ NAME }}_P = {{ p }}, /* parameters */
    {{ NAME }}_Q = {{ n_q }}{{ "," if quantities else " " }} /* coordinates of the joints of the spanning tree */
{% if quantities %}
    {{ NAME }}_M = {{ quantities | length }} /* measured quantities */
{% endif %}
};

/* What functions return. Other than {{ NAME }}_OK: state and results are left as they were. */
enum {
    {{ NAME }}_OK = 0,
    {{ NAME }}_NOT_CLOSED = 1, /* the loops cannot be closed there: out of reach */
    {{ NAME }}_SINGULAR = 2, /* a singular pose lies there or on the way */
    {{ NAME }}_TOO_FAR = 3, /* more than {{ NAME }}_MOST_STEPS steps from the last pose */
    {{ NAME }}_NOT_FINITE = 4, /* an input, or a force that follows from it, is inf or nan */
    {{ NAME }}_WEAK = 5 /* measured quantities do not determine the coordinates there */
};

/* The last pose. */
typedef struct {
    double q[{{ NAME }}_Q];
    double y[{{ NAME }}_N];
} {{ name }}_state;

/* Parameters: phi[i] is {{ name }}_names[i], see the list in {{ name }}.c. */
typedef struct {
    double phi[{{ NAME }}_P];
} {{ name }}_parameters;

extern const {{ name }}_parameters {{ name }}_values;
extern const char *const {{ name }}_names[{{ NAME }}_P];

/* Put a state to the home pose; call it once before anything else. */
void {{ name }}_reset({{ name }}_state *state);

/* Close the loops at y. */
int {{ name }}_move({{ name }}_state *state, const double y[{{ NAME }}_N]);

/* Forces tau from coordinates, speeds and accelerations. */
int {{ name }}_forces({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N], const double ydd[{{ NAME }}_N],
    double tau[{{ NAME }}_N]);
{% if quantities %}

/* The same from measured quantities s, by least squares on the closure, as when a log is
   prepared. Unless it is a null pointer, `found` takes y, their speeds and accelerations. s:
{% for line in quantities %}
   {{ loop.index0 }}: {{ line }}
{% endfor %}
*/
int {{ name }}_forces_measured({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double s[{{ NAME }}_M], const double sd[{{ NAME }}_M], const double sdd[{{ NAME }}_M],
    double tau[{{ NAME }}_N], double found[3 * {{ NAME }}_N]);
{% endif %}
{% if motion %}

/* M (by rows) and h of M ydd + h = tau. */
int {{ name }}_motion({{ name }}_state *state, const {{ name }}_parameters *parameters,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N],
    double M[{{ NAME }}_N * {{ NAME }}_N], double h[{{ NAME }}_N]);
{% endif %}
{% if observation %}

#ifdef {{ NAME }}_WITH_OBSERVATION
/* Observation matrix W (by rows) and known forces: W phi + known = tau. Define
   {{ NAME }}_WITH_OBSERVATION when {{ name }}.c is compiled, too. */
int {{ name }}_observation({{ name }}_state *state,
    const double y[{{ NAME }}_N], const double yd[{{ NAME }}_N], const double ydd[{{ NAME }}_N],
    double W[{{ NAME }}_N * {{ NAME }}_P], double known[{{ NAME }}_N]);
#endif
{% endif %}

#ifdef __cplusplus
}
#endif

#endif
