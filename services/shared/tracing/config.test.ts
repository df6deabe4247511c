import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "../settings/settings.ts";
import { readTracingConfig } from "./config.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

describe("settings of traces", () => {
  const problemsOf = (env: Record<string, string>): string => {
    try {
      readTracingConfig({ ...ENDPOINT, ...env }, "gateway");
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.join("\n");
      throw error;
    }
    return "";
  };

  it("are undefined without a collector, whatever else is set", () => {
    expect(readTracingConfig({ OTEL_TRACES_SAMPLER: "always_on" }, "gateway")).to.equal(undefined);
    expect(readTracingConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, "gateway")).to.equal(undefined);
  });

  it("are those of OpenTelemetry where nothing else is set", () => {
    expect(readTracingConfig(ENDPOINT, "gateway")).to.deep.include({
      ...{ tracesUrl: "http://collector:4318/v1/traces", headers: {}, serviceName: "gateway" },
      ...{ resourceAttributes: {}, sampler: "parentbased_always_on", samplerArgument: 1 },
    });
  });

  it("are read in OpenTelemetry's forms", () => {
    const config = readTracingConfig(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector/prefix/",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YWJj==, x-tenant=a%2Cb",
        OTEL_SERVICE_NAME: "edge",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,k8s.pod.name=g%201",
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.01",
      },
      "gateway",
    );
    expect(config).to.deep.include({
      ...{ tracesUrl: "https://collector/prefix/v1/traces", serviceName: "edge" },
      headers: { authorization: "Basic YWJj==", "x-tenant": "a,b" },
      resourceAttributes: { "deployment.environment.name": "test", "k8s.pod.name": "g 1" },
      ...{ sampler: "parentbased_traceidratio", samplerArgument: 0.01 },
    });
  });

  it("are refused where they are wrong, by name and rule, and headers are never shown", () => {
    expect(problemsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).to.contain("http://");
    expect(problemsOf({ OTEL_TRACES_SAMPLER: "sometimes" })).to.contain(
      "OTEL_TRACES_SAMPLER: it must be one of",
    );
    for (const argument of ["2", "-1", "half"])
      expect(problemsOf({ OTEL_TRACES_SAMPLER_ARG: argument })).to.contain("from 0 to 1");
    const headers = [
      "hunter2",
      "=hunter2",
      "a b=hunter2",
      "a=hunter2%0d%0ab:c",
      "a=hunter2%",
      "a=1,a=hunter2",
    ];
    for (const each of headers) {
      const problem = problemsOf({ OTEL_EXPORTER_OTLP_HEADERS: each });
      expect(problem, each).to.contain("OTEL_EXPORTER_OTLP_HEADERS: it must be");
      expect(problem).not.to.contain("hunter2");
    }
    expect(problemsOf({ OTEL_RESOURCE_ATTRIBUTES: "name" })).to.contain("OTEL_RESOURCE_ATTRIBUTES");
  });
});
