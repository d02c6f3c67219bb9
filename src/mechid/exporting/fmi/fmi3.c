/* FMI 3.0, model exchange and co-simulation. */

#define FMI3_FUNCTION_PREFIX MODEL_PREFIX
#include <stdlib.h>

#include "instance.c"
#include "fmi3Functions.h"

typedef struct {
    State state;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Instance;

static fmi3Status failed(fmi3Instance c, fmi3Status status, const char *message)
{
    Instance *m = c;
    if (m->log) m->log(m->environment, status, "logStatusError", message);
    return status;
}

static fmi3Status failed_at(fmi3Instance c, fmi3Status status, int reason)
{
    char message[256];
    snprintf(message, sizeof message, "t = %g s: %s", ((Instance *)c)->state.value[0],
             REASON[reason]);
    return failed(c, status, message);
}

static fmi3Instance instantiate(fmi3String token, fmi3InstanceEnvironment environment,
                                fmi3LogMessageCallback log)
{
    if (!token || strcmp(token, TOKEN)) return NULL;
    Instance *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->log = log;
    m->environment = environment;
    reset_state(&m->state);
    return m;
}

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String names[])
{
    (void)c, (void)on, (void)n, (void)names;
    return fmi3OK;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return instantiate(token, environment, log);
}

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference required[], size_t n_required, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate)
{
    (void)name, (void)resources, (void)visible, (void)logging, (void)event_mode;
    (void)early_return, (void)required, (void)n_required, (void)intermediate;
    return instantiate(token, environment, log);
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
    fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment;
    (void)log, (void)clock, (void)lock, (void)unlock;
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c) { free(c); }

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean given, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_given, fmi3Float64 stop)
{
    State *s = &((Instance *)c)->state;
    (void)stop_given, (void)stop;
    if (given && tolerance > 0.0) s->tolerance = tolerance;
    s->value[0] = start;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    const int status = update(&((Instance *)c)->state);
    return status == FINE ? fmi3OK : failed_at(c, fmi3Error, status);
}

#define NOTHING_TO_DO(NAME)       \
    fmi3Status NAME(fmi3Instance c) \
    {                             \
        (void)c;                  \
        return fmi3OK;            \
    }

NOTHING_TO_DO(fmi3EnterEventMode)
NOTHING_TO_DO(fmi3Terminate)
NOTHING_TO_DO(fmi3EnterConfigurationMode)
NOTHING_TO_DO(fmi3ExitConfigurationMode)
NOTHING_TO_DO(fmi3EvaluateDiscreteStates)
NOTHING_TO_DO(fmi3EnterContinuousTimeMode)
NOTHING_TO_DO(fmi3EnterStepMode)

fmi3Status fmi3Reset(fmi3Instance c)
{
    reset_state(&((Instance *)c)->state);
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          fmi3Float64 values[], size_t n_values)
{
    State *s = &((Instance *)c)->state;
    if (n != n_values) return failed(c, fmi3Error, "wrong number of values");
    for (size_t i = 0; i < n; i++) {
        int known;
        const int status = get_value(s, vr[i], &values[i], &known);
        if (!known) return failed(c, fmi3Error, "there is no such variable");
        if (status != FINE) return failed_at(c, fmi3Discard, status);
    }
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float64 values[], size_t n_values)
{
    if (n != n_values) return failed(c, fmi3Error, "wrong number of values");
    for (size_t i = 0; i < n; i++)
        if (!set_value(&((Instance *)c)->state, vr[i], values[i]))
            return failed(c, fmi3Error, "a variable cannot be set: it is a result, or not there");
    return fmi3OK;
}

/* All variables are Float64. */
#define REFUSED(c, n) return (n) ? failed(c, fmi3Error, "all variables are of type Float64") : fmi3OK

#define NO_VARIABLES(NAME)                                                                   \
    fmi3Status fmi3Get##NAME(fmi3Instance c, const fmi3ValueReference vr[], size_t n,        \
                             fmi3##NAME values[], size_t n_values)                           \
    {                                                                                        \
        (void)vr, (void)values, (void)n_values;                                              \
        REFUSED(c, n);                                                                       \
    }                                                                                        \
    fmi3Status fmi3Set##NAME(fmi3Instance c, const fmi3ValueReference vr[], size_t n,        \
                             const fmi3##NAME values[], size_t n_values)                     \
    {                                                                                        \
        (void)vr, (void)values, (void)n_values;                                              \
        REFUSED(c, n);                                                                       \
    }

NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t n_values)
{
    (void)vr, (void)sizes, (void)values, (void)n_values;
    REFUSED(c, n);
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t n_values)
{
    (void)vr, (void)sizes, (void)values, (void)n_values;
    REFUSED(c, n);
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[])
{
    (void)vr, (void)values;
    REFUSED(c, n);
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                        const fmi3Clock values[])
{
    (void)vr, (void)values;
    REFUSED(c, n);
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *n)
{
    (void)vr, (void)n;
    return failed(c, fmi3Error, "dependencies do not change");
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent,
                                       size_t elements[], fmi3ValueReference independents[],
                                       size_t of_independents[], fmi3DependencyKind kinds[],
                                       size_t n)
{
    (void)dependent, (void)elements, (void)independents, (void)of_independents, (void)kinds;
    (void)n;
    return failed(c, fmi3Error, "dependencies do not change");
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state) *state = malloc(sizeof(State));
    if (!*state) return failed(c, fmi3Error, "out of memory");
    memcpy(*state, &((Instance *)c)->state, sizeof(State));
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    memcpy(&((Instance *)c)->state, state, sizeof(State));
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(State);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (size != sizeof(State)) return failed(c, fmi3Error, "a state has another size");
    memcpy(bytes, state, sizeof(State));
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState *state)
{
    if (size != sizeof(State)) return failed(c, fmi3Error, "a state has another size");
    if (!*state) *state = malloc(sizeof(State));
    if (!*state) return failed(c, fmi3Error, "out of memory");
    memcpy(*state, bytes, sizeof(State));
    return fmi3OK;
}

#define NO_DERIVATIVES(NAME)                                                                      \
    fmi3Status NAME(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,       \
                    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[], \
                    size_t n_seed, fmi3Float64 result[], size_t n_result)                         \
    {                                                                                             \
        (void)unknowns, (void)n_unknowns, (void)knowns, (void)n_knowns, (void)seed;               \
        (void)n_seed, (void)result, (void)n_result;                                               \
        return failed(c, fmi3Error, "there are no derivatives of variables");                     \
    }

NO_DERIVATIVES(fmi3GetDirectionalDerivative)
NO_DERIVATIVES(fmi3GetAdjointDerivative)

/* There are no clocks. */

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)vr, (void)intervals, (void)qualifiers;
    REFUSED(c, n);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[])
{
    (void)vr, (void)counters, (void)resolutions, (void)qualifiers;
    REFUSED(c, n);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                               fmi3Float64 shifts[])
{
    (void)vr, (void)shifts;
    REFUSED(c, n);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)vr, (void)counters, (void)resolutions;
    REFUSED(c, n);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 intervals[])
{
    (void)vr, (void)intervals;
    REFUSED(c, n);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)vr, (void)counters, (void)resolutions;
    REFUSED(c, n);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                               const fmi3Float64 shifts[])
{
    (void)vr, (void)shifts;
    REFUSED(c, n);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)vr, (void)counters, (void)resolutions;
    REFUSED(c, n);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock, (void)time;
    return failed(c, fmi3Error, "there are no clocks");
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                    fmi3Boolean *next_defined, fmi3Float64 *next)
{
    (void)c;
    *again = *terminate = *nominals_changed = *states_changed = *next_defined = fmi3False;
    *next = 0.0;
    return fmi3OK;
}

/* Model exchange */

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_return,
                                       fmi3Boolean *enter_event_mode, fmi3Boolean *terminate)
{
    (void)c, (void)no_return;
    *enter_event_mode = *terminate = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time)
{
    ((Instance *)c)->state.value[0] = time;
    return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n)
{
    if (n != N_X) return failed(c, fmi3Error, "wrong number of states");
    set_states(&((Instance *)c)->state, x);
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 rate[], size_t n)
{
    State *s = &((Instance *)c)->state;
    if (n != N_X) return failed(c, fmi3Error, "wrong number of states");
    const int status = update(s);
    if (status != FINE) return failed_at(c, fmi3Discard, status);
    if (N_X) memcpy(rate, s->value + AT_YD, N_X * sizeof *rate);
    return fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], size_t n)
{
    (void)z;
    return n ? failed(c, fmi3Error, "there are no event indicators") : fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n)
{
    if (n != N_X) return failed(c, fmi3Error, "wrong number of states");
    if (N_X) memcpy(x, ((Instance *)c)->state.value + AT_Y, N_X * sizeof *x);
    return fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n)
{
    if (n != N_X) return failed(c, fmi3Error, "wrong number of states");
    for (size_t i = 0; i < n; i++) x[i] = NOMINAL[i % N_F];
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n)
{
    (void)c;
    *n = 0;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n)
{
    (void)c;
    *n = N_X;
    return fmi3OK;
}

/* Co-simulation */

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t n_values)
{
    (void)vr, (void)orders, (void)values, (void)n_values;
    return n ? failed(c, fmi3Error, "there are no derivatives of outputs") : fmi3OK;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 now, fmi3Float64 step, fmi3Boolean no_return,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early,
                      fmi3Float64 *last)
{
    State *s = &((Instance *)c)->state;
    (void)no_return;
    const int status = integrate(s, now + step);
    *event = *terminate = *early = fmi3False;
    *last = s->value[0];
    return status == FINE ? fmi3OK : failed_at(c, fmi3Error, status);
}
